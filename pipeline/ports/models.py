"""What stages need of readers, extractors, language models, embedders and the artifact store."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pipeline.errors import PipelineError
from pipeline.models import Extraction, LoadedText, Usage
from pipeline.ontology import Ontology

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

type Vectors = npt.NDArray[np.float32]


class DocumentReader(Protocol):
    """Makes text of a file's bytes."""

    fingerprint: str
    """Changes when the same bytes may give another text."""

    def read(self, data: bytes, name: str) -> LoadedText:
        """Read the file called `name`; raises `LoadError` with a closed code and a clear message."""


class Extractor(Protocol):
    """Finds entities and relations in passages. Results never depend on batch mates."""

    fingerprint: str
    """Changes when the same text and ontology may give another result."""

    def extract(self, texts: Sequence[str], ontology: Ontology) -> list[Extraction]:
        """Read passages; the result runs parallel to `texts`, spans are offsets into each text."""


@runtime_checkable
class CallingExtractor(Protocol):
    """An extractor that asks a service about each passage: answers come late, one by one, and cost something."""

    fingerprint: str
    """Changes when the same text and ontology may give another result: model, prompts, ways of asking."""

    def extract_each(
        self, texts: Sequence[str], ontology: Ontology
    ) -> Iterator[tuple[int, Extraction | PipelineError]]:
        """Read passages, several at once; yields each one's position with what it says, or why that cannot be told.

        `PassageUnread` is the fate of one passage; a transient error says that it is to be asked for again. Closing
        the iterator begins no further call and waits for those under way. One that is a generator may heed
        `pipeline.extract.StopAsking`: then it begins no further call and yields the answers to those under way.
        """


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a language model, which is to answer with JSON of a schema, or in plain text."""

    system: str
    user: str
    schema: Mapping[str, Any]
    """JSON Schema of the answer, the same for all passages of a run. An empty one asks for plain text."""
    max_output_tokens: int


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What a language model answered."""

    text: str
    finish: str
    """`stop`, `length` (cut off) or `refused` (by the model or a filter)."""
    usage: Usage
    model: str
    """The one that answered, as it is called in settings."""


class ChatModel(Protocol):
    """Asks a language model; safe to be used by several threads at once."""

    @property
    def model(self) -> str:
        """Its name as in settings, `provider/name`."""

    def bound(self, request: ChatRequest) -> Usage:
        """Tell what one call may cost at most (`usd` None: its price is unknown), without asking anybody."""

    def complete(self, request: ChatRequest) -> ChatAnswer:
        """Ask once, without retries.

        Raises `ModelBusy` (`retry_after` as asked for), `ModelTimeout`, `ModelRefused`, `PromptTooLong`,
        `ModelOutputInvalid` for what is no answer at all.
        """


class Embedder(Protocol):
    """Maps texts to unit vectors."""

    model_id: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: float32, shape (len(texts), dimension), L2 norm 1."""


class ArtifactStore(Protocol):
    """Results of stages by content-derived key, shared by all hosts."""

    store_id: str
    """Written once into the store; the graph records it, so that no host works with another store."""

    def get(self, key: str) -> bytes | None:
        """Give what was put under the key, or None where it is missing or damaged."""

    def put(self, key: str, data: bytes) -> None:
        """Store durably enough that a later `get` sees all of it or none; writing twice is once."""
