"""Settings of the stages as frozen values; `workers.settings` fills them, nothing here reads the environment."""

from pydantic import BaseModel, ConfigDict, Field

from pipeline.ids import fingerprint
from pipeline.ontology import Ontology

_ASKING = frozenset({"llm", "hybrid"})


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


class LlmConfig(StageConfig):
    """Which language model reads passages, and how it is asked."""

    model: str = Field(default="", description="Language model of the extractors llm and hybrid, as litellm names it.")
    fallbacks: str = Field(
        default="", description="Models, with commas between, that are asked while the one before cannot answer."
    )
    steps: int = Field(
        default=1,
        ge=1,
        le=2,
        description="1: one call a passage finds all. 2: one finds entities, a second checks them and relates them.",
    )
    max_output_tokens: int = Field(default=4_096, ge=64, description="Most tokens of one answer.")
    temperature: float = Field(default=0.0, ge=0, le=2, description="Temperature of the model.")
    min_confidence: float = Field(
        default=0.75, ge=0, le=1, description="Entities of the first of two steps below it get the type Unknown."
    )

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the order in which they are asked."""
        given = (self.model, *self.fallbacks.split(","))
        return tuple(dict.fromkeys(name.strip() for name in given if name.strip()))


class GlinerConfig(StageConfig):
    """Which GLiNER model reads passages, and what it has to be sure of."""

    model: str = Field(default="fastino/gliner2-base-v1", description="GLiNER model: a folder, or a name of the hub.")
    threshold: float = Field(default=0.5, gt=0, lt=1, description="Least score of what GLiNER finds.")
    unsure_below: float = Field(
        default=0.75,
        ge=0,
        le=1,
        description="hybrid: passages go to the language model where GLiNER's mean score is below it.",
    )


class RecipeConfig(StageConfig):
    """All that decides how a file comes out. A run carries it, and a graph remembers it for its documents."""

    extractor: str
    ontology: Ontology
    load: LoadConfig
    chunk: ChunkConfig
    llm: LlmConfig = LlmConfig()
    gliner: GlinerConfig = GlinerConfig()
    grown_from: str = ""
    """Fingerprint of an ontology that this one adds to: what was read under that one is taken over, not read anew."""

    @property
    def asks_model(self) -> bool:
        """Whether passages are read by calls of a language model, which cost something."""
        return self.extractor in _ASKING


class CallConfig(StageConfig):
    """How a language model's service may be called; decides nothing of what comes out."""

    requests_per_minute: int = Field(default=0, ge=0, description="Most calls a minute of one model. 0: no limit.")
    tokens_per_minute: int = Field(default=0, ge=0, description="Most tokens a minute of one model. 0: no limit.")
    in_flight: int = Field(default=8, ge=1, le=1024, description="Most calls of one model at once, over all workers.")
    timeout_seconds: float = Field(default=60.0, gt=0, le=120, description="Longest wait for one answer.")
    api_base: str = Field(default="", description="Address of an OpenAI-compatible server, as http://host:port/v1.")
    usd_per_million_in: float | None = Field(
        default=None, ge=0, description="Price of a million prompt tokens, for models whose price is not known."
    )
    usd_per_million_out: float | None = Field(default=None, ge=0, description="Likewise, of a million answered tokens.")


class EmbedConfig(StageConfig):
    """Which embedder, and how much it is given at once."""

    embedder: str = Field(
        default="bundled:minilm-int8",
        description="bundled:minilm-int8, or python:<module>:<attribute> for one of your own.",
    )
    page_size: int = Field(default=256, gt=0, description="Texts embedded at once.")
