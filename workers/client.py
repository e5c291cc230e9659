"""The client: what the CLI and other programs do with a running system, over ledger and queues."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipeline.config import RecipeConfig
from pipeline.errors import GraphMissing
from pipeline.findings import GraphFingerprint
from pipeline.ids import fingerprint
from pipeline.load import walk_files
from pipeline.tables import TableOrder
from scheduler.errors import RunNotOpen, RunOver
from scheduler.finalize import Phase, Shard
from scheduler.records import Budget, FileReport, FinalizeStatus, RunStatus
from scheduler.states import FileState, RunState
from scheduler.tick import TickReport, tick
from scheduler.verify import Verdict
from tasks.canvas import CanvasSender
from workers.bootstrap import build_calls, build_dispatch, build_verification
from workers.celeryconfig import QUEUES
from workers.connections import connect_redis
from workers.giving import prepare_table, prepare_text
from workers.graphs import curate, inspect_graph, open_graph
from workers.listing import Listed, new_file
from workers.upkeep import Upkeep


class Client(Upkeep):
    """Submits runs, watches them, asks questions. Opens connections on first use."""

    # Runs

    def submit(self, paths: Sequence[Path], root: Path, *, graph: str, **how: Any) -> str:
        """Make a run of all files under `paths`, list them, seal it; `how` is as for `submit_files`. Gives its id.

        `root` is what the documents' names are relative to. Raises `LoadError` for a path that is not there or lies
        outside it; no run is made then.
        """
        files = map(new_file, walk_files(root, paths))
        return self.submit_files(files, root, [str(path) for path in paths], graph=graph, **how)

    def ingest_text(self, text: str, *, id: str, graph: str, **how: Any) -> str:  # noqa: A002 - the id of the document
        """Make a run of a text that is no file, as the document `id`; `how` is as for `submit_files`. Gives its id.

        A text that the graph holds under that id already changes nothing, another one replaces it, and an empty one
        removes it. Raises `DocumentIdInvalid`, `LoadError` for a text that is too long, or empty and not in the graph,
        `StoreDiffers` where the workers would not find it.
        """
        given = prepare_text(text, id, graph, self.settings, self.workers())
        return self.submit_files([given], "", graph=graph, **how)

    def ingest_table(self, path: Path, root: Path, order: TableOrder, *, graph: str, **how: Any) -> str:
        """Make a run of a CSV file whose rows become entities; `how` is as for `submit_files`. Gives its id.

        Raises `LoadError` for what is no file beneath `root`, which its document is named relative to.
        """
        return self.submit_files([prepare_table(path, root, order)], root, graph=graph, **how)

    def resume(self, run: str, *, budget: Budget | None = None, listed: Listed | None = None) -> RunStatus:
        """Make an interrupted or paused run go on with its own settings; one that is done stays as it is.

        `budget` is what it may spend in all from now on, what it has spent included; None leaves that as it was.

        Raises:
            RunNotFound: No run has that name.
            RunOver: It was cancelled.
            WorkersDiffer: A worker has not what its files are made with.
        """
        status = self.ledger.status(run)
        if status.state is RunState.CANCELLING:
            raise RunOver(f"Run {run} is being cancelled: `graphmill cancel {run}` follows that to its end.")
        if status.state is RunState.CANCELLED:
            raise RunOver(f"Run {run} was cancelled and does not go on. Ingest {status.root} again as a new run.")
        if not status.over and (carried := self.ledger.recipe(run)):
            # What a later release has spelled is for its workers to read: here files wait, and say so.
            with suppress(ValidationError):
                recipe = RecipeConfig.model_validate_json(carried)
                self.check_workers(recipe)
                if recipe.asks_model:
                    build_calls(self.settings).pardon(recipe.llm.models)
        if budget and not status.over:
            self.ledger.set_budget(run, budget)
        if status.state is RunState.OPEN:
            self._list_anew(status, listed)
        return self.verbs.go_on(run)

    def _list_anew(self, status: RunStatus, listed: Listed | None) -> None:
        if not status.options["paths"]:
            raise RunOver(
                f"Run {status.run} was interrupted while its list was made, and cannot go on: give the command again "
                f"(`graphmill cancel {status.run}` puts it away)."
            )
        found = walk_files(Path(status.root), [Path(path) for path in status.options["paths"]])
        try:
            listing = self.ledger.clear_open(status.run)
        except RunNotOpen:
            # Sealed by its first lister in the meantime, it has its list.
            return
        self._list(status.run, map(new_file, found), listed, listing)
        self.ledger.make_durable(status.run)

    def tick(self) -> TickReport:
        """Do the control work that is due, as beat would."""
        return tick(
            self.ledger, self.verbs, self.finalizes, CanvasSender(), build_dispatch(self.settings, self._workers)
        )

    def status(self, run: str) -> RunStatus:
        """Tell where a run stands."""
        return self.ledger.status(run)

    def runs(self, limit: int = 50) -> list[RunStatus]:
        """List runs, newest first."""
        return self.ledger.runs(limit)

    def files(self, run: str, states: Sequence[FileState] | None = None) -> Iterator[FileReport]:
        """Report the files of a run."""
        return self.ledger.files(run, states)

    def stages(self, run: str) -> dict[str, int]:
        """Count the files in flight by stage, or as `queued` or `waiting`."""
        return self.ledger.stages(run)

    def queues(self) -> dict[str, int]:
        """Count the messages that wait in each queue, and as `unacked` those that workers hold."""
        broker = self.settings.broker_url or self.settings.redis_url
        with connect_redis(self.settings.model_copy(update={"redis_url": broker})) as client:
            pipe = client.pipeline(transaction=False)
            for name in QUEUES:
                pipe.llen(name)
            pipe.hlen("unacked")
            return dict(zip((*QUEUES, "unacked"), map(int, pipe.execute()), strict=True))

    # Finalize

    def finalize(self, graph: str) -> int:
        """Begin a finalize of a graph now, or join the one that runs; gives its number."""
        number = self.finalizes.begin(graph, forced=True)
        if number:
            CanvasSender().send_phase([Shard(graph, number, Phase.PLAN, 0)])
            return number
        return self.finalizes.status(graph).number

    def finalize_status(self, graph: str) -> FinalizeStatus:
        """Tell where a graph's finalize stands."""
        return self.finalizes.status(graph)

    def graph_counts(self, graph: str) -> dict[str, int]:
        """Count what a graph holds; all zero where there is none yet."""
        opened = open_graph(self.settings, graph)
        try:
            counts = curate(opened).counts()
        except GraphMissing:
            return dict.fromkeys(("documents", "passages", "entities", "relations"), 0)
        finally:
            opened.close()
        return {
            "documents": counts.documents,
            "passages": counts.chunks,
            "entities": counts.entities,
            "relations": counts.relations,
        }

    # Comparisons

    def fingerprint(self, graph: str) -> GraphFingerprint:
        """Hash all that a graph says; raises `GraphMissing`."""
        opened = open_graph(self.settings, graph)
        try:
            kinds = tuple(inspect_graph(opened).fingerprint())
            pending = sum(curate(opened).counts().pending.values())
        finally:
            opened.close()
        whole = fingerprint(f"{one.kind} {one.count} {one.hash}" for one in kinds)
        return GraphFingerprint(graph, whole, kinds, pending)

    def verify(self, graph: str) -> Verdict:
        """Compare the ledger with a graph, and both with themselves; raises `GraphMissing`."""
        opened = open_graph(self.settings, graph)
        try:
            return build_verification(opened, self.ledger, self.finalizes).verify(graph)
        finally:
            opened.close()
