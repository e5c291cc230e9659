"""The one place that reads the environment: every setting with its default, unit and reason.

Precedence: a command's flag, the environment, the running embedded stack of the data folder, the
default. Nested settings use `__`, as in `GRAPHMILL_CHUNK__MAX_TOKENS=256`.
"""

import os
from pathlib import Path
from typing import Any, Self

import psutil
from pydantic import AliasChoices, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from pipeline.config import CallConfig, ChunkConfig, EmbedConfig, GlinerConfig, LlmConfig, LoadConfig, RecipeConfig
from pipeline.ontology import DEFAULT_ONTOLOGY, is_preset
from workers.embedded.record import StackUrls, read_record

# Without it litellm fetches its list of prices from the network when it is imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")


def _named(name: str, *others: str) -> AliasChoices:
    return AliasChoices(name, *others)


class Settings(BaseSettings):
    """Effective settings of this process."""

    model_config = SettingsConfigDict(
        env_prefix="GRAPHMILL_",
        env_nested_delimiter="__",
        # `REDIS_URL=` in a file of settings is how it is left unset.
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
        # Times end up as whole milliseconds, which infinity has none of.
        allow_inf_nan=False,
    )

    # Where things are
    redis_url: SecretStr | None = Field(
        default=None,
        validation_alias=_named("REDIS_URL", "GRAPHMILL_REDIS_URL"),
        description="Redis of ledger, leases and results. Unset: the embedded stack.",
    )
    broker_url: SecretStr | None = Field(
        default=None,
        validation_alias=_named("CELERY_BROKER_URL", "GRAPHMILL_BROKER_URL"),
        description="Redis of the queues. Unset: REDIS_URL.",
    )
    falkordb_url: SecretStr | None = Field(
        default=None,
        validation_alias=_named("FALKORDB_URL", "GRAPHMILL_FALKORDB_URL"),
        description="FalkorDB server, as redis://user:password@host:port. Unset: the embedded stack.",
    )
    graph: str = Field(
        default="graphmill",
        validation_alias=_named("FALKORDB_GRAPH", "GRAPHMILL_GRAPH"),
        min_length=1,
        max_length=200,
        description="Graph that commands use unless they name one.",
    )
    data_dir: Path = Field(default=Path(".graphmill"), description="Folder of the embedded stack's data and logs.")
    artifacts_dir: Path | None = Field(
        default=None, description="Folder of stage results, shared by all hosts. Unset: DATA_DIR/artifacts."
    )
    files_root: Path | None = Field(
        default=None, description="Where this host sees the files, if not where the run was submitted."
    )
    redis_server: Path | None = Field(default=None, description="redis-server binary of the embedded stack.")
    falkordb_module: Path | None = Field(default=None, description="FalkorDB module of the embedded stack.")

    # What the stages do
    extractor: str = Field(
        default="spacy-rules",
        description="spacy-rules, gliner, llm, hybrid; another entry point of group graphmill.extractors; or "
        "module:attribute.",
    )
    ontology: str | None = Field(
        default=None,
        description="Ontology file (YAML, JSON, Turtle), or preset:NAME. Unset: that of the graph, or the default "
        "types.",
    )
    load: LoadConfig = LoadConfig()
    chunk: ChunkConfig = ChunkConfig()
    llm: LlmConfig = LlmConfig()
    gliner: GlinerConfig = GlinerConfig()
    embed: EmbedConfig = EmbedConfig()

    judge: str = Field(
        default="rules",
        pattern="^(rules|llm)$",
        description="Who decides whether entities that look alike are one: rules, or llm (GRAPHMILL_LLM__MODEL).",
    )
    judge_max_usd: float | None = Field(
        default=None,
        gt=0,
        description="Most that calls of the judge llm may cost in one finalize, in US dollars. Unset: no limit.",
    )
    judge_max_tokens: int | None = Field(
        default=None, ge=1, description="Most tokens of such calls in one finalize. Unset: no limit."
    )

    # How language models are called
    calls: CallConfig = CallConfig()
    llm_api_key: SecretStr | None = Field(
        default=None, description="Key for the language model. Unset: that of the provider's own variable."
    )

    # How much at once
    concurrency: int = Field(default=2, ge=1, description="Worker processes of the embedded stack.")
    window: int = Field(
        default=0, ge=0, description="Batches in flight over all runs. 0: three times the worker processes."
    )
    batch_files: int = Field(default=20, ge=1, le=200, description="Most files in one batch.")
    batch_bytes: int = Field(default=256_000, ge=1, description="Input bytes at which a batch is full.")

    memory_mark: float = Field(
        default=0.7,
        gt=0,
        le=1,
        description="Share of the broker's memory above which nothing new is dispatched or submitted.",
    )
    max_failed_share: float = Field(
        default=0.5, ge=0, le=1, description="A run pauses when more of its files fail (of at least 20). 1: never."
    )

    # How long
    lease_seconds: float = Field(
        default=60, gt=0, description="A claimed file without progress for so long is taken back."
    )
    queue_seconds: float = Field(
        default=60, gt=0, description="A message that nobody claims for so long is sent again; doubles each time."
    )
    graph_lease_seconds: float = Field(default=30, gt=0, description="Life of a graph or document lease unrenewed.")
    finalize_seconds: float = Field(
        default=120, gt=0, description="A finalize shard without progress for so long is dispatched again."
    )
    max_starts: int = Field(
        default=3, ge=1, description="Starts without a recorded end after which a file is a dead letter."
    )
    soft_time_limit: float = Field(default=600, gt=0, description="Seconds after which a task is asked to end.")
    time_limit: float = Field(default=660, gt=0, description="Seconds after which a task's process is killed.")
    visibility_timeout: float = Field(
        default=1800, gt=0, description="Seconds after which the broker gives an unacknowledged message again."
    )
    max_memory_per_child_kib: int = Field(
        default=2_000_000, ge=500_000, description="A worker process above this is replaced after its task (KiB)."
    )
    keep_runs_days: float = Field(
        default=30, gt=0, description="Runs that ended longer ago are forgotten; their documents stay."
    )
    redis_timeout: float = Field(
        default=15, ge=2, description="Seconds after which a Redis that does not answer is an error, tried again later."
    )
    graph_timeout: float = Field(
        default=60, ge=2, description="Likewise for FalkorDB; longer than its longest query may take."
    )
    session_seconds: int = Field(
        default=86_400,
        ge=1,
        description="Life of a named session's evidence numbers after their last use; an hour where it was not named.",
    )
    query_timeout: float = Field(
        default=30,
        gt=0,
        description="Seconds that a command waits for a query's answer; 120 at least where a model is asked.",
    )
    keep_superseded_days: int = Field(
        default=30,
        ge=0,
        description="Days for which passages that an update replaced can still be read by their evidence number; "
        "0 keeps none. What is deleted is never kept.",
    )
    answers_max_usd: float | None = Field(
        default=None, gt=0, description="What questions may spend on a language model each day (UTC), in US dollars."
    )
    answers_max_tokens: int | None = Field(
        default=None, gt=0, description="Likewise in tokens, of prompts and answers together."
    )

    # What it says
    log_level: str = Field(
        default="INFO",
        validation_alias=_named("LOG_LEVEL", "GRAPHMILL_LOG_LEVEL"),
        description="Least important log lines that are written: DEBUG, INFO, WARNING, ERROR.",
    )
    log_format: str = Field(
        default="text",
        pattern="^(text|json)$",
        validation_alias=_named("LOG_FORMAT", "GRAPHMILL_LOG_FORMAT"),
        description="Form of log lines: text or json.",
    )

    @model_validator(mode="after")
    def _check_times(self) -> Self:
        """Refuse combinations that lose or double work."""
        if not self.soft_time_limit < self.time_limit:
            raise ValueError("time_limit must be larger than soft_time_limit, or no task can end in good order.")
        if self.visibility_timeout <= self.time_limit:
            raise ValueError("visibility_timeout must be larger than time_limit, or long tasks run twice in parallel.")
        return self

    @property
    def configured(self) -> bool:
        """Whether servers are named, so that no embedded stack is wanted."""
        return self.redis_url is not None or self.falkordb_url is not None

    @property
    def recipe(self) -> RecipeConfig:
        """What decides how a file comes out; raises `OntologyError` where the ontology cannot be read."""
        from workers.ontologies import read_ontology

        return RecipeConfig(
            extractor=self.extractor,
            ontology=read_ontology(self.ontology) if self.ontology else DEFAULT_ONTOLOGY,
            load=self.load,
            chunk=self.chunk,
            llm=self.llm,
            gliner=self.gliner,
        )

    @property
    def language_notice(self) -> str:
        """What a user must know of the languages that the extractor reads; '' where there is nothing to say."""
        if self.extractor != "spacy-rules":
            return ""
        return "Entities and relations are extracted from English text only (GRAPHMILL_EXTRACTOR names another reader)."

    @property
    def artifacts(self) -> Path:
        """The folder of stage results."""
        return self.artifacts_dir or self.data_dir / "artifacts"


def load_settings(**overrides: Any) -> Settings:
    """Read the environment; a running embedded stack of the data folder fills in the servers."""
    settings = Settings(**overrides)
    if settings.configured:
        return settings
    urls = _running_stack(settings.data_dir)
    return settings.model_copy(update=urls) if urls else settings


def _running_stack(data_dir: Path) -> dict[str, Any]:
    record = read_record(data_dir)
    if record is None or record.urls is None or not psutil.pid_exists(record.owner):
        return {}
    return {"redis_url": SecretStr(record.urls.redis), "falkordb_url": SecretStr(record.urls.graph)}


def with_servers(settings: Settings, urls: StackUrls) -> Settings:
    """Name the servers of an embedded stack in settings."""
    redis_secret = SecretStr(urls.redis)
    servers: dict[str, Any] = {
        "redis_url": redis_secret,
        "broker_url": redis_secret,
        "falkordb_url": SecretStr(urls.graph),
    }
    return settings.model_copy(update=servers)


def child_environment(settings: Settings) -> dict[str, str]:
    """Give the environment of a worker process of the embedded stack: ours, and what it must not guess."""
    # It runs in another folder.
    given = {"GRAPHMILL_ONTOLOGY": _from_anywhere(settings.ontology)} if settings.ontology else {}
    return {
        **os.environ,
        **given,
        "FALKORDB_GRAPH": settings.graph,
        "GRAPHMILL_DATA_DIR": str(settings.data_dir.resolve()),
        "GRAPHMILL_ARTIFACTS_DIR": str(settings.artifacts.resolve()),
        # Celery's SIGTERM then means: end soon, and give unfinished messages back.
        "REMAP_SIGTERM": "SIGQUIT",
        # One thread a process: the processes are the parallelism.
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _from_anywhere(ontology: str) -> str:
    return ontology if is_preset(ontology) else str(Path(ontology).resolve())
