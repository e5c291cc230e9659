"""The part of a client that tells of merges and finalizes, and undoes merges."""

import secrets

from pipeline.errors import ArtifactMissing, ArtifactsUnavailable, PermanentError
from pipeline.ports.merges import Explanation, MergeRecord, StoredVerdict
from scheduler.finalize import Phase, Shard
from scheduler.leases import Access, GraphLease
from scheduler.plan_report import PlanPreview, PlanReport, preview_plan
from scheduler.records import FinalizeStatus
from scheduler.seals import Seals
from workers.bootstrap import build_leases, build_writer, find_artifacts
from workers.curating import Curating
from workers.graphs import open_merges


class MergeUnknown(PermanentError):
    """A graph has no such merge, or no such entity."""


class Merging(Curating):
    """What a client does with the merges of a graph. All raise `GraphMissing`."""

    def merges(self, graph: str, *, after: str = "", limit: int = 100) -> list[MergeRecord]:
        """List merges that hold by the id of what was merged away, beyond one."""
        with open_merges(self.settings, graph) as merges:
            return merges.merges(after, limit)

    def undecided(self, graph: str, limit: int = 100) -> list[StoredVerdict]:
        """List pairs of entities that nobody could decide about."""
        with open_merges(self.settings, graph) as merges:
            return merges.undecided(None, limit)

    def explain_merge(self, graph: str, identity: str) -> Explanation:
        """Tell what an entity is made of, or what it went into; raises `MergeUnknown`."""
        with open_merges(self.settings, graph) as merges:
            found = merges.explain(identity)
        if found is None:
            raise MergeUnknown(
                f"Graph {graph} has no entity {identity!r}. `graphmill merges list --graph {graph}` shows the ids."
            )
        return found

    def undo_merge(self, graph: str, identity: str) -> None:
        """Take what was merged away out again; it is not merged with the same again unless a person says so.

        Raises `MergeUnknown`, and `LeaseUnavailable` while others write.
        """
        with open_merges(self.settings, graph) as merges:
            holder = secrets.token_hex(8)
            with GraphLease.hold(build_leases(self.settings), graph, Access.EXCLUSIVE, holder) as lease:
                build_writer(self.settings, graph).raise_fence(lease.epoch, exclusive=True)
                undone = merges.undo(identity, lease.epoch, lease.renew)
        if not undone:
            raise MergeUnknown(
                f"Nothing is merged away as {identity!r} in graph {graph} (any more). "
                f"`graphmill merges list --graph {graph}` shows what was."
            )

    def plan_report(self, status: FinalizeStatus) -> PlanReport | None:
        """Tell by name what a finalize held and what it set aside.

        None where it has planned nothing yet, or its plan is not in the artifact folder of this host (any more).
        """
        # Of an earlier graph of that name there may be a plan of the same number.
        if "merges_planned" not in status.report:
            return None
        try:
            artifacts = find_artifacts(self.settings)
            planned = Shard(status.graph, status.number, Phase.JUDGE, 0)
            return Seals(artifacts, self.finalizes).report(planned) if artifacts else None
        except (ArtifactMissing, ArtifactsUnavailable):
            # It is told beside what the finalize did, which is done all the same.
            return None

    def plan_merges(self, graph: str) -> PlanPreview:
        """Tell what a finalize would merge now; changes nothing, and asks no language model."""
        from workers.resources import build_judging

        decision = build_judging(self.settings, graph).decide(graph, lambda: None)
        with open_merges(self.settings, graph) as merges:
            return preview_plan(decision.plan, merges, decision.counts, decision.not_embedded)
