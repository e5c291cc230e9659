"""PDF through pypdf, with the limits that hostile files need.

pypdf raises what it likes (AttributeError, AssertionError, RecursionError ... are all on record), so
everything is caught here but what means the process: it is out of memory, or told to stop. Each
page is tried by itself: one bad page does not cost the others.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO

from pypdf import Configuration, PageObject, PdfReader, apply_configuration
from pypdf.errors import DependencyError, FileNotDecryptedError, LimitReachedError, WrongPasswordError

from pipeline.config import LoadConfig
from pipeline.errors import LoadCode, LoadError, is_time_limit
from pipeline.load.clean import clean
from pipeline.models import LoadedText, Page

_PAGE_SEPARATOR = "\n\n"
_MAX_MESSAGE = 200
# Warnings are for people: more of them are counted, not told.
_MAX_PAGES_TOLD = 20
_MAX_LOG_TOLD = 3
# A page over the parsing limit may be a map in a good report. Many are an attack on our time.
_MAX_LIMITED_PAGES = 10
# A picture with a page number or a stamp is a scan. Pages without pictures may be as short as they like.
_SCAN_CHARS_PER_PAGE = 10

_LIMITS = Configuration(
    # A quarter of pypdf's default: half a million steps are a page nobody can read, and some seconds.
    stream_parsing_work_maximum_count=500_000,
    maximum_declared_stream_length=32_000_000,
    array_based_stream_maximum_output_length=32_000_000,
    zlib_maximum_output_length=32_000_000,
    lzw_maximum_output_length=32_000_000,
    run_length_maximum_output_length=32_000_000,
    brotli_maximum_output_length=32_000_000,
    stream_decoding_work_maximum_length=128_000_000,
    # Forms that draw forms; text is read through them, and each call costs the same again.
    xform_maximum_invocations_per_extraction=1_000,
    # Pictures are not looked at, and their decoder is a foreign program.
    jbig2dec_binary=None,
)
_MIN_PAGE_TREE = 10_000


def read_pdf(data: bytes, config: LoadConfig) -> LoadedText:
    """Read the text of a PDF, pages joined by a blank line.

    Raises:
        LoadError: `EMPTY_DOCUMENT`, `NO_TEXT_LAYER`, `PASSWORD_REQUIRED`, `CORRUPT`,
            `LIMIT_EXCEEDED` or `MISSING_DEPENDENCY`.
    """
    page_tree = max(_MIN_PAGE_TREE, 2 * config.max_pages)
    with apply_configuration(_LIMITS, page_tree_maximum_entries=page_tree), _collect_log() as log:
        with _translate_errors():
            reader = PdfReader(BytesIO(data), strict=False)
            pages = list(_open_pages(reader, config.max_pages))
        result = _Extraction(config.max_text_chars)
        for number, page in enumerate(pages, start=1):
            result.add(number, page)
        result.check(pages)
    return LoadedText(
        _PAGE_SEPARATOR.join(result.texts),
        "application/pdf",
        pages=tuple(result.spans),
        warnings=(*result.tell_failures(), *log.tell()),
    )


def _open_pages(reader: PdfReader, max_pages: int) -> Iterator[PageObject]:
    count = len(reader.pages)
    if count == 0:
        raise LoadError(LoadCode.EMPTY_DOCUMENT, "The PDF has no pages.")
    if count > max_pages:
        raise LoadError(
            LoadCode.LIMIT_EXCEEDED,
            f"The PDF has {count:,} pages; the limit is {max_pages:,}. Raise max_pages or split the file.",
        )
    for index in range(count):
        yield reader.pages[index]


@dataclass
class _Extraction:
    """The pages read so far, and the ones that could not be."""

    max_chars: int
    texts: list[str] = field(default_factory=list)
    spans: list[Page] = field(default_factory=list)
    failures: list[tuple[int, LoadError]] = field(default_factory=list)
    _end: int = 0
    _limited: int = 0

    def add(self, number: int, page: PageObject) -> None:
        """Read one page; a failure is kept beside an empty text."""
        text = ""
        try:
            with _translate_errors():
                text = clean(page.extract_text())
        except LoadError as error:
            self.failures.append((number, error))
            self._limited += error.load_code is LoadCode.LIMIT_EXCEEDED
            if self._limited > _MAX_LIMITED_PAGES:
                raise
        start = self._end + len(_PAGE_SEPARATOR) if self.texts else 0
        self._end = start + len(text)
        self.texts.append(text)
        self.spans.append(Page(number, start, self._end))
        if self._end > self.max_chars:
            raise LoadError(
                LoadCode.LIMIT_EXCEEDED,
                f"The PDF has more than {self.max_chars:,} characters. Raise max_text_chars or split the file.",
            )

    def check(self, pages: list[PageObject]) -> None:
        """Raise where there is too little text to speak of a document."""
        # A stamp that is the same on each page counts once.
        visible = sum(len("".join(text.split())) for text in set(self.texts))
        if visible == 0 and self.failures:
            raise self.failures[0][1]
        if visible == 0 or (visible < _SCAN_CHARS_PER_PAGE * len(pages) and any(map(_has_picture, pages))):
            raise LoadError(
                LoadCode.NO_TEXT_LAYER,
                f"The PDF has {len(pages)} page(s) but only {visible} characters of text: it seems to be scanned. "
                "Run OCR over it (for instance ocrmypdf) and ingest the result.",
            )

    def tell_failures(self) -> tuple[str, ...]:
        """Say which pages are missing, and why."""
        told = [f"Page {number} is left out: {error}" for number, error in self.failures[:_MAX_PAGES_TOLD]]
        if more := len(self.failures) - len(told):
            told.append(f"{more} more pages are left out.")
        return tuple(told)


def _has_picture(page: PageObject) -> bool:
    try:
        with _translate_errors():
            return len(page.images) > 0
    except LoadError:
        return False


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Turn whatever pypdf raises into a `LoadError`."""
    try:
        yield
    except (LoadError, MemoryError):
        raise
    except (FileNotDecryptedError, WrongPasswordError) as error:
        raise LoadError(
            LoadCode.PASSWORD_REQUIRED,
            "The PDF is encrypted with a password. Remove the protection and ingest it again.",
        ) from error
    except DependencyError as error:
        raise LoadError(LoadCode.MISSING_DEPENDENCY, f"The PDF needs a decoder: {_brief(error)}") from error
    except LimitReachedError as error:
        raise LoadError(LoadCode.LIMIT_EXCEEDED, f"The PDF would take too much work: {_brief(error)}") from error
    except Exception as error:
        if is_time_limit(error):
            raise
        raise LoadError(
            LoadCode.CORRUPT, f"The PDF is damaged ({_brief(error)}). Open it in a viewer and save or print it anew."
        ) from error


def _brief(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(clean(str(error)).split())}"[:_MAX_MESSAGE]


class _Log(logging.Handler):
    """What pypdf logs in this thread: it goes on where it leaves something out."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._thread = threading.get_ident()
        self._told: list[str] = []
        self._count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count a message, and keep it if it is among the first."""
        if record.thread == self._thread:
            self._count += 1
            if len(self._told) < _MAX_LOG_TOLD:
                self._told.append(f"pypdf: {clean(record.getMessage())[:_MAX_MESSAGE]}")

    def tell(self) -> tuple[str, ...]:
        """Give the first messages and the number of the others."""
        more = self._count - len(self._told)
        return (*self._told, f"pypdf: {more} more warnings.") if more else tuple(self._told)


@contextmanager
def _collect_log() -> Iterator[_Log]:
    log = _Log()
    logger = logging.getLogger("pypdf")
    logger.addHandler(log)
    try:
        yield log
    finally:
        logger.removeHandler(log)
