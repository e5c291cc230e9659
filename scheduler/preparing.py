"""The graphs that this process has made ready for writing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pipeline.errors import GraphMissing, GraphUnavailable, OntologyChanged
from pipeline.ontology import Ontology
from pipeline.ports import GraphReviser, GraphWriter, OntologyStore
from scheduler.recipe import Recipe


@dataclass(slots=True)
class Graphs:
    """Gives what writes to a graph; one per process."""

    writer: Callable[[str], GraphWriter]
    reviser: Callable[[str], GraphReviser]
    ontologies: Callable[[str], OntologyStore]
    check_record: Callable[[str], None]
    """Refuses a graph that was made with another embedder or artifact store."""
    _prepared: dict[str, set[str]] = field(default_factory=dict)
    """By graph, the recipes that it has been made ready for."""

    def prepare(self, graph: str, recipe: Recipe) -> None:
        """Make the graph ready before this process writes the first batch of a recipe to it."""
        ready = self._prepared.setdefault(graph, set())
        if recipe.fingerprint not in ready:
            writer = self.writer(graph)
            if not self._begin_ontology(graph, recipe.config.ontology):
                writer.prepare(recipe.config.ontology)
            self.check_record(graph)
            writer.remember_recipe(recipe.fingerprint, recipe.config.model_dump_json())
            ready.add(recipe.fingerprint)

    def _begin_ontology(self, graph: str, ontology: Ontology) -> bool:
        """Keep the first ontology of a graph, which also makes the graph ready for it; False where it has one."""
        ontologies = self.ontologies(graph)
        try:
            if ontologies.current() is not None:
                return False
        except GraphMissing:
            # It is made by what follows.
            pass
        try:
            ontologies.put(ontology)
        except OntologyChanged:
            return False
        return True

    @contextmanager
    def made_anew(self, graph: str) -> Iterator[None]:
        """A graph that is removed under our feet is prepared again by the next batch."""
        try:
            yield
        except GraphMissing as error:
            self._prepared.pop(graph, None)
            raise GraphUnavailable(f"{error} It is made anew.") from error
