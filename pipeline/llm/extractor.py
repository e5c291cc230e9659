"""The extractor that asks a language model about each passage, several at once."""

import threading
from collections.abc import Generator, Sequence
from contextlib import closing

from pipeline.config import LlmConfig
from pipeline.errors import HaltsRun, ModelBusy, PipelineError, TransientError
from pipeline.extract import StopAsking
from pipeline.ids import fingerprint
from pipeline.llm.notes import Notes
from pipeline.llm.parallel import run_each
from pipeline.llm.questions import Questions
from pipeline.llm.reading import PassageReader
from pipeline.llm.wording import fingerprint_wording
from pipeline.models import Extraction, Mention
from pipeline.ontology import Ontology
from pipeline.ports import ArtifactStore, ChatAnswer, ChatModel, ChatRequest

LONGEST_WAIT_SECONDS = 2.0
"""Where a model wants to be left alone for longer, the rest of the passages is not asked for."""

# Raise it when the same answers make another extraction.
_RULES_VERSION = "1"


class LlmExtractor:
    """Reads passages with a language model, as a `CallingExtractor`.

    Args:
        model: Whom to ask; its errors decide whether a passage, or all, are asked for later.
        config: How it is asked.
        threads: How many passages are read at once.
        store: Keeps what was answered of passages that take several calls.
    """

    def __init__(self, model: ChatModel, config: LlmConfig, threads: int, store: ArtifactStore | None = None) -> None:
        # Who stands in for a model changes nothing of what it has answered.
        asked = config.model_copy(update={"fallbacks": ""})
        self.fingerprint = fingerprint(("llm", _RULES_VERSION, fingerprint_wording(), asked.fingerprint))
        self._model = model
        self._config = config
        self._threads = threads
        self._notes = Notes(store, self.fingerprint)

    def extract_each(
        self, texts: Sequence[str], ontology: Ontology, found: Sequence[Sequence[Mention]] | None = None
    ) -> Generator[tuple[int, Extraction | PipelineError], None, None]:
        """Read passages; yields each one's position with what it says, not grounded yet, or why that cannot be told.

        `found` runs parallel to `texts`: what another extractor has found in each, which is then checked and related;
        a passage without any is read from scratch. Once a model takes no calls for a while, or for good, all that is
        left gets that error without a call. `StopAsking` is heeded.
        """
        calls = _Calls(self._model)
        questions = Questions(ontology, self._config.max_output_tokens)
        stopped, over = threading.Event(), ModelBusy("Nobody waits for this answer any more.")

        def read(position: int) -> Extraction | PipelineError:
            if stopped.is_set():
                return over
            reader = PassageReader(calls.complete, questions, self._config, self._notes)
            try:
                return reader.read(texts[position], found[position] if found else ())
            except PipelineError as error:
                return error

        with closing(run_each(read, range(len(texts)), self._threads)) as results:
            try:
                for position, result in results:
                    if result is not over:
                        try:
                            yield position, result
                        except StopAsking:
                            # What was begun may take several calls, of which some are paid for: it is read to its end.
                            stopped.set()
            finally:
                # A passage that takes several calls must not begin its next one either.
                calls.stop(over)


class _Calls:
    """The calls of one reading; after an error that concerns all of them none is begun."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._stopped: PipelineError | None = None

    def stop(self, error: PipelineError) -> None:
        self._stopped = self._stopped or error

    def complete(self, request: ChatRequest) -> ChatAnswer:
        if self._stopped is not None:
            raise self._stopped
        try:
            return self._model.complete(request)
        except TransientError as error:
            if isinstance(error, HaltsRun) or error.retry_after > LONGEST_WAIT_SECONDS:
                self.stop(error)
            raise
