"""The part of a client that keeps a graph in step: what is removed, dropped, read anew, or follows a folder."""

from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from pipeline.config import RecipeConfig
from pipeline.errors import GraphMissing
from pipeline.models import PlacedDocument
from pipeline.ontology import Ontology
from scheduler.documents import (
    Changes,
    Reextraction,
    count_changes,
    find_documents,
    order_deletions,
    order_reextractions,
)
from scheduler.states import FileState
from scheduler.sync_plan import SyncPlan
from scheduler.syncing import plan_folder
from workers.bootstrap import build_dropping
from workers.curating import read_recipes
from workers.graphs import open_graph, open_inspector
from workers.merging import Merging
from workers.submitting import absolute


class Upkeep(Merging):
    """What a client does with documents that a graph holds. Each makes runs, which end by themselves."""

    def documents(self, graph: str) -> list[PlacedDocument]:
        """List the documents of a graph; raises `GraphMissing`."""
        with open_inspector(self.settings, graph) as inspector:
            return list(inspector.documents())

    def delete(self, documents: Sequence[str], *, graph: str, **how: Any) -> str:
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
        with closing(open_graph(self.settings, graph)) as opened:
            return build_dropping(self.settings, opened).drop(graph)

    def plan_sync(self, path: Path, root: Path, *, graph: str, allow_empty: bool = False) -> SyncPlan:
        """Tell what a graph lacks to be as a folder (or file) `path` is, whose files are named from `root`.

        Reads every file and changes nothing. A graph that is missing holds nothing. Raises `FolderEmpty` where
        nothing can be read there although the graph knows files of it, unless `allow_empty`; `RootUnclear` where it
        knows those files from another root, or other files by their names; `LoadError` for a path that is not there
        or lies outside the root.
        """
        try:
            documents = self.documents(graph)
        except GraphMissing:
            documents = []
        top = Path(absolute(root))
        return plan_folder(graph, top, path, self.settings.load, documents, allow_empty=allow_empty)

    def sync(self, plan: SyncPlan, **how: Any) -> str:
        """Make a run that does what is planned; gives its id, or '' where there is nothing to do.

        `how` is as for `submit_files`. What changes after the plan was made is left to the next one.
        """
        return self.submit_files(files, plan.root, graph=plan.graph, **how) if (files := plan.files) else ""

    def plan_reextraction(
        self,
        documents: Sequence[str] | None = None,
        *,
        graph: str,
        ontology: Ontology | None = None,
        present: bool = False,
    ) -> list[Reextraction]:
        """Make the lists of `reextract`; raises as that does."""
        with open_inspector(self.settings, graph) as inspector:
            known = list(inspector.documents())
            recipes = {} if present else read_recipes(inspector)
        wanted = known if documents is None else find_documents(known, documents)

        present_recipe = cache(lambda: self.recipe_for(graph))
        # Limits are of the reading, which is done now.
        given: dict[str, Any] = {"load": self.settings.load} | ({"ontology": ontology} if ontology else {})

        @cache
        def recipe_of(fingerprint: str) -> RecipeConfig:
            return (recipes.get(fingerprint) or present_recipe()).model_copy(update=given)

        plan = order_reextractions(wanted, lambda document: recipe_of(document.made_with))
        for one in plan:
            self.check_workers(one.recipe)
        return plan

    def reextract(
        self,
        documents: Sequence[str] | None = None,
        *,
        graph: str,
        ontology: Ontology | None = None,
        present: bool = False,
        **how: Any,
    ) -> list[str]:
        """Make runs that make documents anew from their files or texts; gives their ids.

        Each keeps the settings of its last ingest, but for an `ontology` that is given, or gets the `present` ones.
        There is a run for each root and each of those settings. `documents` are named by id or path; None stands
        for all. `how` is as for `submit_files`. Raises `DocumentUnknown`, `GraphMissing`, `WorkersDiffer`.
        """
        plan = self.plan_reextraction(documents, graph=graph, ontology=ontology, present=present)
        return [self.submit_files(one.files, one.root, graph=graph, recipe=one.recipe, **how) for one in plan]

    def changes(self, run: str) -> Changes:
        """Count what a run has done to its graph so far."""
        updated = self.ledger.files(run, [FileState.UPDATED])
        return count_changes(self.ledger.status(run).counts, sum(bool(report.renamed_from) for report in updated))
