"""Errors by who must act on them: wait and try again, give the file up, or fix the installation.

    PipelineError
    ├── TransientError            the same work may succeed later; never burns an attempt
    │   ├── LeaseLost             a newer epoch owns the graph; what was written since is nothing
    │   ├── GraphUnavailable      the graph server is down, loading, or too busy
    │   ├── ArtifactMissing       a stage's result is gone; the stage that makes it must run again
    │   ├── ArtifactsUnavailable  the artifact store cannot be read or written: full, read-only, unmounted
    │   ├── FileNotReady          the file cannot be read now; `load_code` says what it comes to if that stays so
    │   ├── ModelBusy             a model's service refuses for load or does not answer; `retry_after` says for how long
    │   │   ├── ModelTimeout      it took longer than it may for one answer
    │   │   └── FormRefused       it does not take the form of the question; the next one has another
    │   ├── HaltsRun              a person must act before anything of the run can go on
    │   │   ├── ModelRefused      a model's service takes no call of ours: key, quota, no such model
    │   │   └── BudgetSpent       what the run may cost is spent
    │   └── WriteIncomplete       what is stored is less than what was sent
    └── PermanentError            trying again with the same input gives the same answer
        ├── LoadError             the file cannot be read as text; `code` says why
        ├── TableInvalid          a table's rows, columns or keys are not what was asked for
        ├── GraphMissing          the graph was never prepared, or has been deleted
        ├── GraphRejected         the graph server refused the query itself
        ├── OntologyError         an ontology file contradicts itself
        ├── OntologyChanged       a graph's ontology has another version than the one that was to be followed
        ├── ArtifactStoreMissing  a folder holds no artifact store
        ├── ModelUnavailable      a model or its data is not installed
        ├── ModelOutputInvalid    a model's answer is not what its port promises
        ├── PromptTooLong         a prompt is longer than its model takes; less text may fit
        ├── PassageUnread         what one passage says could not be had; `unread_code` says why
        ├── EmbedderMismatch      the graph was built with another embedder
        ├── EmbeddingInvalid      an embedder's vectors have the wrong shape, are not finite, or are zero
        └── QueryInvalid          a question or a draft that cannot be worked on

Every error passes its arguments positionally to `Exception`, so that it survives pickling.
"""

from enum import StrEnum


class LoadCode(StrEnum):
    """Why a file brought no text, as a closed set that reports and retries rely on."""

    EMPTY_DOCUMENT = "empty_document"
    """No bytes, no pages, or only white space."""
    NO_TEXT_LAYER = "no_text_layer"
    """A PDF of pictures: pages, but hardly a character."""
    PASSWORD_REQUIRED = "password_required"  # noqa: S105 - a code, not a secret
    """Encrypted, and the empty password does not open it."""
    CORRUPT = "corrupt"
    """Of the right kind, but damaged beyond reading."""
    NOT_THIS_FORMAT = "not_this_format"
    """The bytes are of another kind than the name says."""
    UNSUPPORTED_FORMAT = "unsupported_format"
    """A kind of file that no reader takes."""
    ENCODING_UNKNOWN = "encoding_unknown"
    """Text in an encoding that cannot be told."""
    TOO_LARGE = "too_large"
    """Larger than the configured limit."""
    LIMIT_EXCEEDED = "limit_exceeded"
    """Reading it would take more memory, output or work than the limits allow."""
    MISSING = "missing"
    """Listed, but gone when it was opened."""
    UNREADABLE = "unreadable"
    """The operating system refuses to open or read it."""
    OUTSIDE_ROOT = "outside_root"
    """A path or link that leaves the files root."""
    NOT_A_FILE = "not_a_file"
    """A folder, pipe, socket or device."""
    ROOT_MISSING = "root_missing"
    """The files root itself is gone or not mounted; says nothing about the file."""
    KEEPS_CHANGING = "keeps_changing"
    """Each time that it was read it changed meanwhile."""
    MISSING_DEPENDENCY = "missing_dependency"
    """A decoder that the file needs is not installed."""


# Nothing is wrong with these files: they just hold no text for a graph.
SKIP_CODES = frozenset({LoadCode.EMPTY_DOCUMENT, LoadCode.NO_TEXT_LAYER, LoadCode.UNSUPPORTED_FORMAT})


class PipelineError(Exception):
    """Base of all errors that the pipeline raises on purpose."""

    @property
    def code(self) -> str:
        """A stable word for reports: the class name in snake case, unless a leaf says more."""
        return "".join("_" + c.lower() if c.isupper() else c for c in type(self).__name__).lstrip("_")


class TransientError(PipelineError):
    """The same work may succeed later; not before `retry_after` seconds, where the other side says so."""

    def __init__(self, *args: object, retry_after: float = 0.0) -> None:
        super().__init__(*args)
        self.retry_after = retry_after


class PermanentError(PipelineError):
    """Trying again with the same input gives the same answer."""


class LeaseLost(TransientError):
    """A newer epoch owns the graph: nothing of this query was written."""


class GraphUnavailable(TransientError):
    """The graph server is unreachable, loading, or refuses for load."""


class GraphTimeout(GraphUnavailable):
    """A query of the graph took longer than it may, and was ended by the server."""


class ArtifactMissing(TransientError):
    """A stage's stored result is gone, or is damaged; the stage that makes it must run again."""


class ArtifactsUnavailable(TransientError):
    """The artifact store cannot be read or written: full, read-only, not mounted. The message says what to fix."""


class ModelBusy(TransientError):
    """The service behind a model limits our rate, is overloaded, or does not answer."""


class ModelTimeout(ModelBusy):
    """A model's service took longer than it may for one answer."""


class FormRefused(ModelBusy):
    """A model's service does not take the form of the question, at no cost; asked again at once, it gets another."""


class HaltsRun(TransientError):
    """Nothing of its run can go on before a person has acted: the run pauses, its files wait in it."""


class ModelRefused(HaltsRun):
    """A model's service takes no call of ours: the key is wrong, the quota is used up, there is no such model."""


class BudgetSpent(HaltsRun):
    """What the run may cost, in money or tokens, is spent."""


class WriteIncomplete(TransientError):
    """What the graph stores after a write is less than what was sent."""


class _OfFile(PipelineError):
    """Has one of the closed codes of files: `(code, message)`."""

    def __init__(self, code: LoadCode, message: str) -> None:
        super().__init__(code, message)
        self.load_code = code
        self.message = message

    @property
    def code(self) -> str:
        """The closed code of the failure."""
        return self.load_code.value

    def __str__(self) -> str:
        """The message alone: the code travels beside it."""
        return self.message


class FileNotReady(_OfFile, TransientError):
    """The file cannot be read now, but perhaps soon. `FileNotReady(code, message)`: what it comes to, if not."""


class LoadError(_OfFile, PermanentError):
    """The file cannot be read as text. `LoadError(code, message)`."""


class TableInvalid(PermanentError):
    """A table's rows, columns or keys are not what was asked for; the message names the line and the fix."""


class GraphMissing(PermanentError):
    """The graph was never prepared, or has been deleted."""


class GraphRejected(PermanentError):
    """The graph server refused the query itself."""


class OntologyError(PermanentError):
    """An ontology contradicts itself or cannot be read."""


class OntologyChanged(PermanentError):
    """The graph's ontology has another version than the one that was to be followed: somebody else was faster."""


class ArtifactStoreMissing(PermanentError):
    """The folder holds no artifact store; it may be another one that is meant."""


class ModelUnavailable(PermanentError):
    """A model or its data is not installed."""


class ModelOutputInvalid(PermanentError):
    """A model's answer is not what its port promises: another count, shape or kind of values."""


class PromptTooLong(PermanentError):
    """A prompt is longer than its model takes; less text may fit."""


class UnreadCode(StrEnum):
    """Why it could not be had what a passage says, as a closed set for reports."""

    MALFORMED = "malformed_answer"
    """No JSON of the asked shape, also after a repair and a second try."""
    EMPTY = "empty_answer"
    """Nothing was answered."""
    TRUNCATED = "truncated_answer"
    """Cut off at the most tokens that an answer may have, also for parts of the passage."""
    REFUSED = "refused"
    """The model, or a filter before it, refuses to read this text."""
    TOO_LONG = "too_long"
    """The model takes no prompt of that length, not even for parts of the passage."""
    TIMEOUT = "timeout"
    """No answer within the time limit, several times."""


class PassageUnread(PermanentError):
    """What one passage says could not be had: `(code, message)`. Its document is written without it, as partial."""

    def __init__(self, code: UnreadCode, message: str) -> None:
        super().__init__(code, message)
        self.unread_code = code
        self.message = message

    @property
    def code(self) -> str:
        """The closed code of the failure."""
        return self.unread_code.value

    def __str__(self) -> str:
        """Say what happened."""
        return self.message


class EmbedderMismatch(PermanentError):
    """The graph was built with another embedder than the configured one."""


class EmbeddingInvalid(PermanentError):
    """An embedder's vectors have the wrong shape, are not finite, or are zero."""


class QueryInvalid(PermanentError):
    """A question or draft that cannot be worked on."""


def is_time_limit(error: BaseException) -> bool:
    """Tell the soft time limit of a task from other errors; it may strike anywhere and is never the file's fault.

    It is told by where its class comes from, as nothing below the tasks knows Celery.
    """
    return type(error).__module__.startswith("billiard")
