"""The part of a client that keeps a graph in step: what is removed, dropped, read anew, or follows a folder."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import batched
from pathlib import Path
from typing import Any

from pipeline.errors import GraphMissing
from pipeline.models import PlacedDocument
from scheduler.documents import (
    Changes,
    count_changes,
    find_documents,
    order_deletions,
    order_reextractions,
    select_files,
)
from scheduler.finalize import FinalizeLedger
from scheduler.ledger import FIRST_LISTING, Ledger
from scheduler.records import MemoryUse, NewFile
from scheduler.reports import SEGMENT
from scheduler.states import FileState
from scheduler.syncing import SyncPlan, plan_folder
from scheduler.verbs import RunVerbs
from workers.asking import Questioner
from workers.bootstrap import build_dropping, build_finalizes, build_ledger, build_verbs, inspect_graph, open_graph
from workers.listing import Listed, wait_for_room


class Upkeep(Questioner):
    """What a client does with documents that a graph holds. Each makes runs, which end by themselves."""

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of runs."""
        return build_ledger(self.settings)

    @cached_property
    def verbs(self) -> RunVerbs:
        """What a person does with runs."""
        return build_verbs(self.settings, self.ledger)

    @cached_property
    def finalizes(self) -> FinalizeLedger:
        """The finalize records."""
        return build_finalizes(self.settings)

    def submit_files(
        self,
        files: Iterable[NewFile],
        root: Path | str,
        paths: Sequence[str] = (),
        *,
        graph: str,
        finalize: str = "auto",
        priority: int = 0,
        opened: Callable[[str], None] | None = None,
        listed: Listed | None = None,
    ) -> str:
        """Make a run of a list of files with their orders, and seal it; gives its id.

        `paths` are those from which the list can be made again, should it be interrupted.
        """
        options = {"paths": paths, "settings": self.settings.fingerprint}
        run = self.ledger.open_run(
            graph,
            str(root),
            finalize=finalize,
            options=options,
            priority=priority,
            most_failed=self.settings.max_failed_share,
        )
        if opened:
            opened(run)
        self._list(run, files, listed)
        return run

    def _list(self, run: str, files: Iterable[NewFile], listed: Listed | None, listing: int = FIRST_LISTING) -> None:
        offset = 0
        for segment in batched(files, SEGMENT):
            wait_for_room(self.memory, offset, listed)
            offset = self.ledger.append(run, offset, segment, listing=listing)
            if listed:
                listed(offset, None)
        self.ledger.seal(run, listing=listing)

    def memory(self) -> MemoryUse:
        """Tell what the Redis of ledger and queues holds; above its mark nothing new is taken in or dispatched."""
        return self.verbs.memory(self.settings.memory_mark)

    def documents(self, graph: str) -> list[PlacedDocument]:
        """List the documents of a graph; raises `GraphMissing`."""
        opened = open_graph(self.settings, graph)
        try:
            return list(inspect_graph(opened).documents())
        finally:
            opened.close()

    def delete(self, documents: Sequence[str], graph: str, **how: Any) -> str:
        """Make a run that removes documents, named by id or by the path of their file; gives its id.

        `how` is as for `submit_files`. Raises `DocumentUnknown` where one is not there (then none is removed),
        `GraphMissing`.
        """
        found = find_documents(self.documents(graph), documents)
        roots = {document.root for document in found}
        return self.submit_files(order_deletions(found), roots.pop() if len(roots) == 1 else "", graph=graph, **how)

    def drop(self, graph: str) -> int:
        """Remove a graph and what Redis knows of it, at once; gives how many runs had ended with it.

        Runs keep their history. Raises `GraphInUse` while a run or finalize works on it, `GraphMissing`.
        """
        opened = open_graph(self.settings, graph)
        try:
            return build_dropping(self.settings, self.ledger, self.finalizes, opened).drop(graph)
        finally:
            opened.close()

    def plan_sync(self, path: Path, root: Path, graph: str, *, allow_empty: bool = False) -> SyncPlan:
        """Tell what a graph lacks to be as a folder (or file) `path` is, whose files are named from `root`.

        Reads every file and changes nothing. A graph that is missing holds nothing. Raises `FolderEmpty` where
        nothing can be read there although the graph knows files of it, unless `allow_empty`; `RootUnclear`, and
        `LoadError` for a path that is not there or lies outside the root.
        """
        try:
            documents = self.documents(graph)
        except GraphMissing:
            documents = []
        return plan_folder(graph, root, path, self.settings.load, documents, allow_empty=allow_empty)

    def sync(self, plan: SyncPlan, **how: Any) -> str:
        """Make a run that does what is planned; gives its id, or '' where there is nothing to do.

        `how` is as for `submit_files`. What changes after the plan was made is left to the next one.
        """
        return self.submit_files(files, plan.root, graph=plan.graph, **how) if (files := plan.files) else ""

    def order_reextraction(self, graph: str, documents: Sequence[str] | None = None) -> dict[str, list[NewFile]]:
        """Make the lists of `reextract`, by root; raises as that does."""
        known = self.documents(graph)
        return order_reextractions(select_files(known if documents is None else find_documents(known, documents)))

    def reextract(self, graph: str, documents: Sequence[str] | None = None, **how: Any) -> list[str]:
        """Make runs that read files anew with the present settings, one for each root; gives their ids.

        `documents` names them by id or path; None stands for all that are of files. `how` is as for `submit_files`.
        Raises `DocumentUnknown`, `GraphMissing`.
        """
        orders = self.order_reextraction(graph, documents)
        return [self.submit_files(files, root, graph=graph, **how) for root, files in orders.items()]

    def changes(self, run: str) -> Changes:
        """Count what a run has done to its graph so far."""
        updated = self.ledger.files(run, [FileState.UPDATED])
        return count_changes(self.ledger.status(run).counts, sum(bool(report.renamed_from) for report in updated))
