"""What every reader of the port owes its callers."""

import re
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.adapters.readers import FileReader
from pipeline.config import LoadConfig
from pipeline.errors import LoadCode, LoadError
from pipeline.load import SUPPORTED_SUFFIXES, read_file, walk_files
from pipeline.ports import DocumentReader

EXAMPLES = Path(__file__).parents[2] / "examples"
CONFIG = LoadConfig()
READER: DocumentReader = FileReader(CONFIG)
SUFFIXES = sorted(SUPPORTED_SUFFIXES)


def refused(data, name, reader=READER):
    with pytest.raises(LoadError) as caught:
        reader.read(data, name)
    assert caught.value.message.endswith(".")
    return caught.value.load_code


def zipped():
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "text")
    return out.getvalue()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_supported_suffix_has_a_reader(suffix):
    assert refused(b"", f"x{suffix}") is LoadCode.EMPTY_DOCUMENT
    assert refused(b"", f"folder.d/x{suffix.upper()}") is LoadCode.EMPTY_DOCUMENT


@pytest.mark.parametrize("name", ["x.docx", "x", "txt", "x.txt.exe"])
def test_other_suffixes_are_refused(name):
    assert refused(b"text", name) is LoadCode.UNSUPPORTED_FORMAT


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("data", [zipped(), b"\x89PNG\r\n\x1a\n" + bytes(99), b"\x7fELF" + bytes(99)])
def test_archives_pictures_and_programs_are_refused_whatever_they_are_called(data, suffix):
    assert refused(data, f"x{suffix}") is LoadCode.NOT_THIS_FORMAT


@pytest.mark.parametrize("data", [b"<!DOCTYPE html><p>404", b"just some text", b"\n <html>"])
def test_what_is_called_pdf_but_is_none_is_refused(data):
    assert refused(data, "x.pdf") is LoadCode.NOT_THIS_FORMAT


def test_a_pdf_is_read_as_such_whatever_it_is_called():
    loaded = READER.read((EXAMPLES / "annual-report-2019.pdf").read_bytes(), "report.txt")
    assert (loaded.media_type, len(loaded.pages)) == ("application/pdf", 2)


@pytest.mark.parametrize("suffix", [".txt", ".md", ".rst"])
@pytest.mark.parametrize("data", [b" \n\t\r\n ", b"\xef\xbb\xbf", "\u200b \ufeff".encode(), b"\xff\xfe"])
def test_nothing_to_see_is_an_empty_document(data, suffix):
    assert refused(data, f"x{suffix}") is LoadCode.EMPTY_DOCUMENT


@pytest.mark.parametrize("suffix", [".txt", ".md", ".rst"])
def test_a_text_over_the_limit_is_refused_and_one_at_the_limit_is_read(suffix):
    reader = FileReader(LoadConfig(max_text_chars=10))
    assert refused(b"x" * 11, f"x{suffix}", reader) is LoadCode.LIMIT_EXCEEDED
    assert len(reader.read(b"x" * 10, f"x{suffix}").text) == 10


def test_the_fingerprint_does_not_hang_on_limits_that_cut_nothing():
    assert FileReader(CONFIG).fingerprint == FileReader(LoadConfig(max_pages=7)).fingerprint
    assert re.fullmatch("[0-9a-f]{32}", READER.fingerprint)


def test_markdown_keeps_its_source_and_its_headings():
    loaded = READER.read(b"\xef\xbb\xbf# One\r\n\r\n*text*\r\n", "x.md")
    assert loaded.text == "# One\n\n*text*\n"
    assert [heading.title for heading in loaded.headings] == ["One"]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(SUFFIXES), st.sampled_from([b"", b"%PDF-1.4\n", b"\xff\xfe", b"# a\n"]))
def test_any_bytes_give_clean_text_or_a_load_error(data, suffix, head):
    try:
        loaded = READER.read(head + data, f"x{suffix}")
    except LoadError:
        return
    loaded.text.encode("utf-8")
    assert "\0" not in loaded.text
    assert loaded.text.strip()
    for heading in loaded.headings:
        assert heading.start == 0 or loaded.text[heading.start - 1] == "\n"


def test_the_examples_read_as_they_are_meant():
    outcomes = {}
    for found in walk_files(EXAMPLES, [EXAMPLES]):
        try:
            loaded = READER.read(read_file(EXAMPLES, found.relative, CONFIG), found.relative)
            outcomes[found.relative] = loaded.encoding or f"{len(loaded.pages)} pages"
            assert loaded.warnings == ()
        except LoadError as error:
            outcomes[found.relative] = error.load_code
    assert {name: outcome for name, outcome in outcomes.items() if outcome != "utf-8"} == {
        "annual-report-2019.pdf": "2 pages",
        "broken-download.pdf": LoadCode.CORRUPT,
        "empty.txt": LoadCode.EMPTY_DOCUMENT,
        "letter-from-lisbon.txt": "cp1252",
    }
