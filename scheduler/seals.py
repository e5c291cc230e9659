"""What the parts of a finalize work on, sealed before they are sent: a part that runs twice does the same twice."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline import ids
from pipeline.errors import ArtifactMissing
from pipeline.models import Pending
from pipeline.ports import ArtifactStore, GraphCurator
from pipeline.ports.merges import MergeReason
from pipeline.resolve.resolution import Plan
from pipeline.resolve.values import EXACT, Judged, Named, Verdict
from scheduler.finalize import MAX_SHARDS, FinalizeLedger, Phase, Shard
from scheduler.plan_report import HeldGroup, PlanReport, ValueClash

SEALED_KINDS = {
    Phase.NAMES: ("entity",),
    Phase.JUDGE: ("chunk",),
    Phase.DERIVE: ("entity",),
    Phase.FACTS: ("relation",),
}
"""What is listed, and dealt to the parts of each phase."""
_DONE_IN = {Phase.DERIVE: "entity", Phase.FACTS: "relation", Phase.JUDGE: "chunk"}
_DRAFT = ("plan",)
_MOST_PARTS = MAX_SHARDS - 1
"""One is left for the part that judges beside those that store what the parts of the phase before have made."""
SealedMerge = tuple[str, str, MergeReason]
"""Survivor, duplicate, and why."""
SealedChoice = tuple[str, str, dict[str, str]]
"""Survivor, its name, and for attributes the member whose value stays."""
LIST_PAGE = 2_000
"""Pending things listed at once: an id and a mark each."""
SHARD_MIN = 250
"""A part is not made smaller than this many things: its messages and leases would cost more than it saves."""
PASSAGES_MIN = 200
"""The same for passages, each of which takes longer."""
SHARD_MOST = 1_000
"""Nor larger, while there are parts left: at the end of a phase, workers wait for the last one."""
_DEALT_IN = 4
"""Where it is divided at all, a phase has a multiple of this many parts, all equal, unless that makes them smaller than
the least or more than the most: two or four processes, as many as most machines give, then end together."""


@dataclass(frozen=True, slots=True)
class SealedPlan:
    """What a finalize does with the entities that it found to be one."""

    merges: tuple[SealedMerge, ...]
    choices: tuple[SealedChoice, ...]
    """To be made after all merges."""
    verdicts: tuple[Judged, ...]
    """To be kept after that."""
    told: Mapping[str, str]
    """What each entity of a merge said of itself when it was judged, as `spell_told` gives it."""


@dataclass(frozen=True, slots=True)
class Seals:
    """Lists of pending things in the artifact store, under a name that the finalize's record keeps.

    The name is fresh for each try, so that a late second try's lists are never read.
    """

    artifacts: ArtifactStore
    finalizes: FinalizeLedger

    def seal(self, shard: Shard, following: Phase, curator: GraphCurator) -> tuple[str, int]:
        """Store what each part of the next phase works on; gives the name and the number of parts.

        Raises `ArtifactMissing` where that is a plan of merges, and it is gone.

        Pending things are listed anew for each phase, as one phase makes work for the next: an entity
        that gets another name makes its facts pending.
        """
        name = secrets.token_hex(4)
        if following is Phase.MERGE:
            # What a judge that is late puts in its place from now on is read by nobody.
            self._put(shard, (following, name, "plan"), self._get(shard, _DRAFT))
        kinds = SEALED_KINDS.get(following)
        if kinds is None:
            return name, 1
        things = {kind: list_pending(curator, kind) for kind in kinds}
        for of_kind in things.values():
            # Relations of one entity stand together: mostly its supports are then gone through once for all of them.
            of_kind.sort(key=lambda one: one.id)
        total = sum(len(of_kind) for of_kind in things.values())
        if following is Phase.JUDGE:
            # Its first part judges, which one process does; the others find work in what no verdict changes.
            idle, parts = 1, 1 + max(self.parts(shard, Phase.NAMES), min(_MOST_PARTS, -(-total // PASSAGES_MIN)))
        else:
            wanted = _DEALT_IN * -(-total // (_DEALT_IN * SHARD_MOST))
            idle, parts = 0, max(1, min(_MOST_PARTS, -(-total // SHARD_MIN), wanted))
        for part in range(parts):
            rows = {
                kind: [(p.id, p.mark, p.place) for p in _deal(of_kind, part - idle, parts - idle)]
                for kind, of_kind in things.items()
            }
            self._put(shard, (following, name, str(part)), rows)
        self._put(shard, (following, name, "parts"), parts)
        return name, parts

    def part(self, shard: Shard, phase: Phase, part: int) -> dict[str, list[Pending]]:
        """Read what a part of a phase works on; raises `ArtifactMissing`."""
        rows_of = self._get(shard, (phase, self.finalizes.seal(shard, phase), str(part)))
        return {kind: [Pending(*row) for row in rows] for kind, rows in rows_of.items()}

    def parts(self, shard: Shard, phase: Phase) -> int:
        """Read into how many parts a phase was divided; raises `ArtifactMissing`."""
        return int(self._get(shard, (phase, self.finalizes.seal(shard, phase), "parts")))

    def done(self, shard: Shard) -> Iterator[list[Pending]]:
        """Yield part by part what the finalize has done, but for what is held; raises `ArtifactMissing`.

        Each kind by the list of the phase that derives it: what was marked again since then is not derived again.
        An entity that came after the names were listed has not been judged either, nor has one that changed since.
        """
        judged = {one.id for one in self._named(shard)}
        judged |= {survivor for survivor, _, _ in self.plan(shard).merges}
        judged -= {member for group in self.report(shard).held for member in group.ids}
        judged -= set(self._get(shard, self._of_merges(shard, "outdated")))
        for phase, kind in _DONE_IN.items():
            for part in range(self.parts(shard, phase)):
                yield [one for one in self.part(shard, phase, part)[kind] if kind != "entity" or one.id in judged]

    def has_entities(self, shard: Shard) -> bool:
        """Tell whether any entity was pending when the names were listed; raises `ArtifactMissing`."""
        return next(self._named(shard), None) is not None

    def list_rows(self, shard: Shard) -> list[str]:
        """List the rows of tables among the entities that were pending; raises `ArtifactMissing`."""
        return [one.id for one in self._named(shard) if ids.key_of(one.id)]

    def vectors_key(self, shard: Shard, part: int) -> str:
        """Name the artifact of the vectors that a part of the names' phase makes."""
        return self._key(shard, (Phase.NAMES, self.finalizes.seal(shard, Phase.NAMES), "vectors", str(part)))

    def _named(self, shard: Shard) -> Iterator[Pending]:
        for part in range(self.parts(shard, Phase.NAMES)):
            yield from self.part(shard, Phase.NAMES, part)["entity"]

    def seal_plan(
        self, shard: Shard, plan: Plan, report: PlanReport, verdicts: Iterable[Judged], told: Mapping[str, str]
    ) -> None:
        """Store which entities are to be one, why, and what they are to be called; what is told of it; what is kept.

        It counts once the finalize goes on to the merges.
        """
        merges = [
            (one.survivor, one.duplicate, "exact" if one.because.judge == EXACT else "judged", *_why(one.because))
            for one in plan.merges
        ]
        choices = [(one.survivor, one.name, dict(one.keep)) for one in plan.choices]
        kept = [(one.pair, one.verdict, *_why(one)) for one in verdicts]
        rows = {"merges": merges, "choices": choices, "verdicts": kept, "told": dict(told), "report": report}
        self._put(shard, _DRAFT, rows)

    def plan(self, shard: Shard) -> SealedPlan:
        """Read what was sealed, once the finalize has gone on to the merges; raises `ArtifactMissing`."""
        rows = self._get(shard, self._of_merges(shard, "plan"))
        merges = (
            (survivor, duplicate, MergeReason(phase, reason, shard.number, judge))
            for survivor, duplicate, phase, reason, judge in rows["merges"]
        )
        choices = ((survivor, name, keep) for survivor, name, keep in rows["choices"])
        kept = (Judged((one, other), Verdict(told), *why) for (one, other), told, *why in rows["verdicts"])
        return SealedPlan(tuple(merges), tuple(choices), tuple(kept), rows["told"])

    def report(self, shard: Shard) -> PlanReport:
        """Read what is told of the plan that a finalize has sealed; raises `ArtifactMissing`."""
        rows = self._get(shard, self._of_merges(shard, "plan"))["report"]
        held = (HeldGroup(tuple(one["ids"]), tuple(one["names"])) for one in rows["held"])
        return PlanReport(tuple(held), tuple(ValueClash(**one) for one in rows["clashes"]))

    def seal_outdated(self, shard: Shard, entities: Iterable[str]) -> None:
        """Store which entities were not merged as they had changed: they stay pending."""
        self._put(shard, self._of_merges(shard, "outdated"), sorted(entities))

    def _of_merges(self, shard: Shard, what: str) -> tuple[str, ...]:
        return Phase.MERGE, self.finalizes.seal(shard, Phase.MERGE), what

    @staticmethod
    def _key(shard: Shard, what: tuple[str, ...]) -> str:
        return ids.artifact_key("finalize", (shard.graph, str(shard.number), *what))

    def _put(self, shard: Shard, what: tuple[str, ...], value: object) -> None:
        self.artifacts.put(self._key(shard, what), orjson.dumps(value))

    def _get(self, shard: Shard, what: tuple[str, ...]) -> Any:
        raw = self.artifacts.get(self._key(shard, what))
        if raw is None:
            raise ArtifactMissing("A sealed part of the finalize is missing in the artifact store.")
        return orjson.loads(raw)


def spell_told(one: Named) -> str:
    """Hash what an entity says of itself to judges, but for its description, which more texts of the same change."""
    said = (one.label, one.name, sorted(one.aliases), sorted(one.properties.items()))
    return ids.fingerprint(map(repr, said))


def _deal(things: Sequence[Pending], part: int, parts: int) -> Sequence[Pending]:
    """Give a part's share of what is listed: neighbours, as many as any other part's; a part below zero has none."""
    return things[len(things) * part // parts : len(things) * (part + 1) // parts] if part >= 0 else ()


def list_pending(curator: GraphCurator, kind: str) -> list[Pending]:
    """List all that is pending of a kind."""
    found: list[Pending] = []
    place = -1
    while page := curator.pending(kind, place, LIST_PAGE):
        found += page
        place = page[-1].place
    return found


def _why(judged: Judged) -> tuple[str, str]:
    return judged.reason, judged.judge
