"""The part of a client that tells of merges, and undoes them."""

import secrets

from pipeline.errors import PermanentError
from pipeline.ports.merges import Explanation, MergeRecord, StoredVerdict
from scheduler.judging import Decision
from scheduler.leases import Access, GraphLease
from workers.bootstrap import build_judging, build_leases, build_writer
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
                undone = merges.undo(identity, lease.epoch)
        if not undone:
            raise MergeUnknown(
                f"Nothing was merged away as {identity!r} in graph {graph}. Nothing was changed. "
                f"`graphmill merges list --graph {graph}` shows what was."
            )

    def plan_merges(self, graph: str) -> Decision:
        """Tell what a finalize would merge now; changes nothing, and asks no language model."""
        judging = build_judging(self.settings.model_copy(update={"judge": "rules"}), graph)
        return judging.decide(graph, lambda: None, keep=False)
