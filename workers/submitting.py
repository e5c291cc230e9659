"""The part of a client that makes runs: a list of files with their orders, and what they are made with."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import batched
from pathlib import Path

from pipeline.config import RecipeConfig
from pipeline.errors import GraphMissing, PermanentError
from pipeline.ontology import Ontology
from pipeline.ports import StoredOntology
from scheduler.finalize import FinalizeLedger
from scheduler.ledger import FIRST_LISTING, Ledger
from scheduler.records import Budget, MemoryUse, NewFile, Terms
from scheduler.reports import SEGMENT
from scheduler.verbs import RunVerbs
from scheduler.workers import Worker, Workers
from workers.asking import Questioner
from workers.bootstrap import build_finalizes, build_ledger, build_verbs
from workers.connections import connect_redis
from workers.graphs import open_ontologies
from workers.listing import Listed, wait_for_room

MOST_BATCH_FILES = 200


class WorkersDiffer(PermanentError):
    """A worker that runs already has not what the files of a run are to be made with."""


class Submitter(Questioner):
    """Makes runs of lists of files, for workers that can do what they ask."""

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of runs."""
        return build_ledger(self.settings)

    @cached_property
    def _workers(self) -> Workers:
        return Workers(connect_redis(self.settings))

    @cached_property
    def verbs(self) -> RunVerbs:
        """What a person does with runs."""
        return build_verbs(self.settings, self.ledger)

    @cached_property
    def finalizes(self) -> FinalizeLedger:
        """The finalize records."""
        return build_finalizes(self.settings)

    def submit_files(  # noqa: PLR0913 - each is something that a run may be given
        self,
        files: Iterable[NewFile],
        root: Path | str,
        paths: Sequence[str] = (),
        *,
        graph: str,
        finalize: str = "auto",
        priority: int = 0,
        recipe: RecipeConfig | None = None,
        budget: Budget | None = None,
        opened: Callable[[str], None] | None = None,
        listed: Listed | None = None,
        sealed: Callable[[], object] | None = None,
    ) -> str:
        """Make a run of a list of files with their orders, and seal it; gives its id.

        `root` is '' for what is no file; a relative one, as any of `paths`, begins in this process's folder.
        `paths` are those from which the list can be made again, should it be interrupted; `recipe` is what the files
        are made with, whatever the settings of the workers: None stands for the present settings, with the graph's
        ontology where none is set. `budget` is what calls of a language model may cost in all. `sealed` is called once
        workers may begin; the list is on disk when this returns, a second later at most.
        Raises `WorkersDiffer` where a worker could not do that.
        """
        recipe = recipe or self.recipe_for(graph)
        self.check_workers(recipe)
        terms = Terms(budget or Budget(), self._batch_files()) if recipe.asks_model else None
        run = self.ledger.open_run(
            graph,
            absolute(root),
            finalize=finalize,
            options={"paths": [absolute(path) for path in paths]},
            priority=priority,
            most_failed=self.settings.max_failed_share,
            recipe=(recipe.fingerprint, recipe.model_dump_json()),
            terms=terms,
        )
        if opened:
            opened(run)
        self._list(run, files, listed)
        if sealed:
            sealed()
        self.ledger.make_durable(run)
        return run

    def ontology(self, graph: str) -> Ontology | None:
        """Read the ontology that is kept in a graph; None where none is, or there is no graph."""
        stored = self.stored_ontology(graph)
        return Ontology.model_validate_json(stored.settings) if stored else None

    def stored_ontology(self, graph: str) -> StoredOntology | None:
        """Read the latest version of a graph's ontology as it is stored; likewise."""
        with open_ontologies(self.settings, graph) as ontologies, suppress(GraphMissing):
            return ontologies.current()
        return None

    def recipe_for(self, graph: str) -> RecipeConfig:
        """Give the present settings, with the graph's ontology where none is set."""
        recipe = self.settings.recipe
        kept = None if self.settings.ontology else self.ontology(graph)
        return recipe.model_copy(update={"ontology": kept}) if kept else recipe

    def _batch_files(self) -> int:
        """Let a batch have enough small files to keep all calls under way that may be."""
        return max(self.settings.batch_files, min(MOST_BATCH_FILES, 4 * self.settings.calls.in_flight))

    def workers(self) -> list[Worker]:
        """List the living workers of all hosts."""
        return self._workers.living()

    def check_workers(self, recipe: RecipeConfig) -> None:
        """Refuse what a living worker could not make files with; raises `WorkersDiffer`."""
        for worker in self.workers():
            offer = worker.offer
            if "extract" in worker.queues and recipe.extractor not in offer.extractors:
                raise WorkersDiffer(
                    f"Worker {worker.name} has no extractor {recipe.extractor!r} (it has "
                    f"{', '.join(offer.extractors) or 'none'}). Start the workers anew with that GRAPHMILL_EXTRACTOR."
                )
            if "finalize" in worker.queues and self.settings.embed.embedder != offer.embedder:
                raise WorkersDiffer(
                    f"Worker {worker.name} embeds with {offer.embedder}, and this command would have "
                    f"{self.settings.embed.embedder}. Give it the workers' GRAPHMILL_EMBED__EMBEDDER, or start them "
                    "anew."
                )

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


def absolute(place: Path | str) -> str:
    """Spell a path so that it means the same to every process; '' stays as it is.

    Links stay links. Where it goes up by `..`, that is up from where a link leads, as for the system.
    """
    if place == "":
        return ""
    path = Path(place)
    return str(Path(os.path.realpath(path)) if ".." in path.parts else path.absolute())
