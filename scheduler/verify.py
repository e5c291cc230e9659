"""Compares the ledger with a graph, and both with themselves, without changing either."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import batched

from pipeline.findings import Fault, FaultCode
from pipeline.ids import document_of
from pipeline.ports import GraphCurator, GraphInspector, GraphWriter
from scheduler.finalize import FinalizeLedger
from scheduler.ledger import Ledger
from scheduler.records import RunStatus
from scheduler.states import FileState, RunState
from scheduler.superseded import leave_newest

EXAMPLES = 5
"""Elements that a finding names at most."""
PAGE = 500
"""Documents looked up at once."""
BLOCK = 20_000
"""Suspected documents that are held at once; more of them are looked into block by block."""
_EVER = 1 << 31
_IN_GRAPH = frozenset({FileState.WRITTEN.value, FileState.UPDATED.value, FileState.UNCHANGED.value})
_OUTCOMES = frozenset(state.value for state in FileState)


@dataclass(frozen=True, slots=True)
class Finding:
    """Everything that is wrong in one way: how often, and a few of the places."""

    code: FaultCode
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a verification found; `at_work` says that runs or a finalize went on, so it may differ the next time."""

    graph: str
    at_work: bool
    runs: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verification of one graph reads."""

    ledger: Ledger
    finalizes: FinalizeLedger
    inspector: GraphInspector
    writer: GraphWriter
    curator: GraphCurator

    def verify(self, graph: str) -> Verdict:
        """Look for all faults of a graph; raises `GraphMissing` where there is none."""
        runs = self._runs(graph)
        at_work = self._is_at_work(graph, runs)
        faults = (
            () if at_work else self._find_pending(graph),
            self._find_unstamped(runs),
            self._find_differences(runs),
            self.inspector.faults(),
        )
        return Verdict(graph, at_work, len(runs), tuple(summarise(one for some in faults for one in some)))

    def _runs(self, graph: str) -> list[RunStatus]:
        """List all runs of the graph, newest first; what was dropped with an earlier graph is missed by nobody."""
        return [run for run in self.ledger.runs(_EVER) if run.graph == graph and not run.dropped]

    def _is_at_work(self, graph: str, runs: Iterable[RunStatus]) -> bool:
        return (
            any(not run.over and run.state is not RunState.OPEN for run in runs)
            or self.finalizes.status(graph).state == "running"
        )

    def _find_pending(self, graph: str) -> Iterator[Fault]:
        pending = self.curator.counts().pending
        # Asked again, lest a run that began meanwhile is blamed for what it is working on.
        if pending and not self._is_at_work(graph, self._runs(graph)):
            # What a judge gave no usable answer about waits for the next finalize by design.
            held = {"entity": self.finalizes.status(graph).report.get("held_entities", 0)}
            for kind, count in sorted(pending.items()):
                yield from (Fault(FaultCode.PENDING_LEFT, kind) for _ in range(count - held.get(kind, 0)))

    def _find_unstamped(self, runs: Sequence[RunStatus]) -> Iterator[Fault]:
        """Find documents that are half written or half replaced, and whose file no run has yet to end."""
        for block in batched(self.inspector.unstamped(), BLOCK):
            suspects = {node: document_of(node) for node in block}
            at_work: set[str] = set()
            for run in runs:
                if run.over:
                    continue
                for report in self.ledger.files(run.run):
                    if report.state not in _OUTCOMES:
                        at_work |= {report.document, report.renamed_from}
            left = {node for node, document in suspects.items() if document not in at_work}
            if left:
                # One that was completed in between is none.
                left &= set(self.inspector.unstamped())
            yield from (Fault(FaultCode.DOCUMENT_UNSTAMPED, suspects[node]) for node in sorted(left))

    def _find_differences(self, runs: Sequence[RunStatus]) -> Iterator[Fault]:
        """Read the files of all runs once: what each run counts, and what the graph lacks of them."""
        for position, run in enumerate(runs):
            newer = runs[:position]
            counted: Counter[str] = Counter()
            internal = 0
            suspects: dict[str, None] = {}
            for page in batched(self.ledger.files(run.run), PAGE):
                counted.update(report.state for report in page)
                internal += sum(report.code == "internal_error" for report in page)
                names = [report.document for report in page if report.state in _IN_GRAPH]
                stored = self.writer.stored(names)
                suspects.update(dict.fromkeys(name for name in names if name not in stored))
                if len(suspects) >= BLOCK:
                    yield from self._find_lost(newer, suspects)
                    suspects = {}
            yield from self._find_lost(newer, suspects)
            yield from self._compare_counts(run, counted, internal)

    def _find_lost(self, newer: Iterable[RunStatus], suspects: dict[str, None]) -> Iterator[Fault]:
        """Keep what no newer run has listed: there its newest outcome stands, or is to come."""
        left = leave_newest(self.ledger, (run.run for run in newer if run.state is not RunState.OPEN), suspects)
        yield from (Fault(FaultCode.DOCUMENT_LOST, name) for name in suspects if name in left)

    def _compare_counts(self, run: RunStatus, counted: Counter[str], internal: int) -> Iterator[Fault]:
        """Compare a run's counts with its files, unless it went on meanwhile."""
        listed = {state: counted[state] for state in run.counts}
        right = counted.total() == run.total and listed == run.counts and run.pending >= 0
        right = right and internal == run.internal_errors
        whole = run.ended == run.total or not (run.over or run.state is RunState.FINALIZING)
        if not (right and whole) and self.ledger.status(run.run) == run:
            text = f"run {run.run}: {run.total} files, of which it counts {run.counts}; recorded are {dict(counted)}"
            if internal != run.internal_errors:
                text += f"; {run.internal_errors} internal errors, recorded are {internal}"
            yield Fault(FaultCode.RUN_COUNTS_DIFFER, text)


def summarise(faults: Iterable[Fault]) -> list[Finding]:
    """Count faults by code, in the order of the codes, and keep the first few of each as examples."""
    counts: Counter[FaultCode] = Counter()
    examples: dict[FaultCode, list[str]] = {}
    for fault in faults:
        counts[fault.code] += 1
        named = examples.setdefault(fault.code, [])
        if len(named) < EXAMPLES and fault.element not in named:
            named.append(fault.element)
    return [Finding(code, counts[code], tuple(examples[code])) for code in FaultCode if code in counts]
