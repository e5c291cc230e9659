"""Settings of the stages as frozen values; `workers.settings` fills them, nothing here reads the environment."""

from pydantic import BaseModel, ConfigDict, Field

from pipeline.ids import fingerprint
from pipeline.ontology import Ontology


class StageConfig(BaseModel):
    """Base of the stages' settings: immutable, closed, and with a fingerprint for artifact keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def fingerprint(self) -> str:
        """Changes when the stage's results may change."""
        return fingerprint((type(self).__name__, self.model_dump_json()))


class LoadConfig(StageConfig):
    """Limits on what is read from one file."""

    max_file_bytes: int = Field(default=200 * 2**20, gt=0, description="Largest file that is read, in bytes.")
    max_text_chars: int = Field(default=20_000_000, gt=0, description="Longest text that is kept of one file.")
    max_pages: int = Field(default=5_000, gt=0, description="Most pages that are read of one PDF.")


class ChunkConfig(StageConfig):
    """How text is cut into passages."""

    max_tokens: int = Field(default=384, ge=16, description="Most (estimated) tokens in a passage.")
    overlap_sentences: int = Field(default=0, ge=0, description="Sentences that a passage repeats of the one before.")
    language: str = Field(default="en", description="Language of the sentence rules (ISO 639-1).")


class RecipeConfig(StageConfig):
    """All that decides how a file comes out. A run carries it, and a graph remembers it for its documents."""

    extractor: str
    ontology: Ontology
    load: LoadConfig
    chunk: ChunkConfig


class EmbedConfig(StageConfig):
    """Which embedder, and how much it is given at once."""

    embedder: str = Field(
        default="bundled:minilm-int8",
        description="bundled:minilm-int8, or python:<module>:<attribute> for one of your own.",
    )
    page_size: int = Field(default=256, gt=0, description="Texts embedded at once.")
