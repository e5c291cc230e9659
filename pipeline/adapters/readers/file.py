"""Picking the reader of a file."""

from importlib.metadata import version
from pathlib import PurePosixPath

from pipeline.adapters.readers.markdown import read_markdown
from pipeline.adapters.readers.rst import read_rst
from pipeline.adapters.readers.sniff import Kind, has_pdf_header, sniff
from pipeline.adapters.readers.text import read_text
from pipeline.config import LoadConfig
from pipeline.errors import LoadCode, LoadError
from pipeline.ids import fingerprint
from pipeline.models import LoadedText

# Raise it when a rule in this folder or in `pipeline.load.clean` changes what text a file gives.
_RULES_VERSION = "1"
_LIBRARIES = ("pypdf", "charset-normalizer", "markdown-it-py")
_TEXT_READERS = {
    ".txt": read_text,
    ".text": read_text,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".rst": read_rst,
}


class FileReader:
    """Reads plain text, Markdown, reStructuredText and PDF, by the bytes first, then by the name."""

    def __init__(self, config: LoadConfig) -> None:
        self._config = config
        self.fingerprint = fingerprint((_RULES_VERSION, *(f"{name} {version(name)}" for name in _LIBRARIES)))

    def read(self, data: bytes, name: str) -> LoadedText:
        """Read the file called `name`; raises `LoadError` with a closed code and a clear message.

        A PDF is read as such whatever it is called. Limits that a file exceeds refuse it whole;
        nothing is ever cut off silently.
        """
        suffix = PurePosixPath(name).suffix.lower()
        if suffix != ".pdf" and suffix not in _TEXT_READERS:
            raise LoadError(
                LoadCode.UNSUPPORTED_FORMAT, f"No reader takes files that end in {suffix or 'no suffix'!r}."
            )
        if not data:
            raise LoadError(LoadCode.EMPTY_DOCUMENT, "The file is empty.")
        kind = sniff(data)
        if kind is Kind.BINARY:
            raise LoadError(
                LoadCode.NOT_THIS_FORMAT,
                f"The file ends in {suffix} but is an archive, picture or program. Export it as text or PDF.",
            )
        if kind is Kind.PDF or (suffix == ".pdf" and has_pdf_header(data)):
            # Its library takes a tenth of a second to load, and half of that for encrypted files.
            from pipeline.adapters.readers.pdf import read_pdf

            return read_pdf(data, self._config)
        if suffix == ".pdf":
            what = "a web page" if kind is Kind.HTML else "no PDF"
            raise LoadError(
                LoadCode.NOT_THIS_FORMAT,
                f"The file ends in .pdf but is {what}; a download may have failed. Fetch the PDF again.",
            )
        return _TEXT_READERS[suffix](data, self._config.max_text_chars)
