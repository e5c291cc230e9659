"""The graphs that this process has made ready for writing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pipeline.errors import GraphMissing, GraphUnavailable
from pipeline.ports import GraphReviser, GraphWriter
from scheduler.recipe import Recipe


@dataclass(slots=True)
class Graphs:
    """Gives what writes to a graph; one per process."""

    writer: Callable[[str], GraphWriter]
    reviser: Callable[[str], GraphReviser]
    check_record: Callable[[str], None]
    """Refuses a graph that was made with another embedder or artifact store."""
    _prepared: dict[str, set[str]] = field(default_factory=dict)
    """By graph, the recipes that it has been made ready for."""

    def prepare(self, graph: str, recipe: Recipe) -> None:
        """Make the graph ready before this process writes the first batch of a recipe to it."""
        ready = self._prepared.setdefault(graph, set())
        if recipe.fingerprint not in ready:
            writer = self.writer(graph)
            writer.prepare(recipe.config.ontology)
            self.check_record(graph)
            writer.remember_recipe(recipe.fingerprint, recipe.config.model_dump_json())
            ready.add(recipe.fingerprint)

    @contextmanager
    def made_anew(self, graph: str) -> Iterator[None]:
        """A graph that is removed under our feet is prepared again by the next batch."""
        try:
            yield
        except GraphMissing as error:
            self._prepared.pop(graph, None)
            raise GraphUnavailable(f"{error} It is made anew.") from error
