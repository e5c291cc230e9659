"""The graphs that this process has made ready for writing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pipeline.errors import GraphMissing, GraphUnavailable
from pipeline.ontology import Ontology
from pipeline.ports import GraphReviser, GraphWriter


@dataclass(slots=True)
class Graphs:
    """Gives what writes to a graph; one per process."""

    writer: Callable[[str], GraphWriter]
    reviser: Callable[[str], GraphReviser]
    check_record: Callable[[str], None]
    """Refuses a graph that was made with another embedder or artifact store."""
    _prepared: set[str] = field(default_factory=set)

    def prepare(self, graph: str, ontology: Ontology) -> None:
        """Make the graph ready before this process writes its first batch to it."""
        if graph not in self._prepared:
            self.writer(graph).prepare(ontology)
            self.check_record(graph)
            self._prepared.add(graph)

    @contextmanager
    def made_anew(self, graph: str) -> Iterator[None]:
        """A graph that is removed under our feet is prepared again by the next batch."""
        try:
            yield
        except GraphMissing as error:
            self._prepared.discard(graph)
            raise GraphUnavailable(f"{error} It is made anew.") from error
