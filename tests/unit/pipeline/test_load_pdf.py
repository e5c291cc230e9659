"""PDFs, good and hostile, made here byte by byte or with pypdf."""

import io
import logging
import sys

import pytest
from pypdf import PageObject, PdfWriter

from pipeline.adapters.readers import pdf as pdf_module
from pipeline.adapters.readers.pdf import read_pdf
from pipeline.config import LoadConfig
from pipeline.errors import LoadCode, LoadError

CONFIG = LoadConfig()
CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
FONT = b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"


def stream(body: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(body), entries, body)


def assemble(*objects: bytes) -> bytes:
    """Number objects from 1 and write the file around them."""
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table) + trailer


def pdf(*contents: bytes, resources: bytes = FONT, extra: bytes = b"<< >>") -> bytes:
    """Make a PDF of one page for each content stream; object 3 is `extra`."""
    first = 4
    kids = b" ".join(b"%d 0 R" % (first + 2 * index) for index in range(len(contents)))
    objects = [CATALOG, b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(contents)), extra]
    for index, content in enumerate(contents):
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R /Resources %s >>"
        objects += [page % (first + 2 * index + 1, resources), stream(content)]
    return assemble(*objects)


def show(text: str) -> bytes:
    return b"BT /F1 12 Tf 72 720 Td (%s) Tj ET" % text.encode()


def encrypted(password: str, algorithm: str) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(pdf(show("A secret thing"))))
    writer.encrypt(user_password=password, owner_password="owner", algorithm=algorithm)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def refused(data, config=CONFIG):
    with pytest.raises(LoadError) as caught:
        read_pdf(data, config)
    return caught.value


def test_pages_are_exact_spans_of_the_text():
    loaded = read_pdf(pdf(show("First page"), show("Second page"), show("Third")), CONFIG)
    assert loaded.text == "First page\n\nSecond page\n\nThird"
    assert [(page.number, loaded.text[page.start : page.end]) for page in loaded.pages] == [
        (1, "First page"),
        (2, "Second page"),
        (3, "Third"),
    ]
    assert (loaded.media_type, loaded.warnings) == ("application/pdf", ())


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_an_empty_password_opens_the_file(algorithm):
    assert read_pdf(encrypted("", algorithm), CONFIG).text == "A secret thing"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_password_is_asked_for(algorithm):
    assert refused(encrypted("word", algorithm)).load_code is LoadCode.PASSWORD_REQUIRED


def test_a_pdf_without_pages_is_empty():
    data = assemble(CATALOG, b"<< /Type /Pages /Kids [] /Count 0 >>")
    assert refused(data).load_code is LoadCode.EMPTY_DOCUMENT


def test_pages_without_text_are_counted():
    error = refused(pdf(b"", b"0 0 m 9 9 l S"))
    assert error.load_code is LoadCode.NO_TEXT_LAYER
    assert "2 page(s)" in error.message


def test_a_picture_with_a_page_number_is_a_scan():
    picture = stream(
        b"\x00", b"/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray"
    )
    resources = FONT[:-2] + b"/XObject << /Im0 3 0 R >> >>"
    scan = pdf(show("1") + b" /Im0 Do", show("2") + b" /Im0 Do", resources=resources, extra=picture)
    assert refused(scan).load_code is LoadCode.NO_TEXT_LAYER
    assert read_pdf(pdf(show("1"), show("2")), CONFIG).text == "1\n\n2"


def test_a_bad_page_does_not_cost_the_good_ones(monkeypatch):
    extract = PageObject.extract_text

    def fail_on_the_second(page):
        if page.page_number == 1:
            raise AssertionError("odd operand")
        return extract(page)

    monkeypatch.setattr(PageObject, "extract_text", fail_on_the_second)
    loaded = read_pdf(pdf(show("First"), show("Second"), show("Third")), CONFIG)
    assert loaded.text == "First\n\n\n\nThird"
    assert [page.number for page in loaded.pages] == [1, 2, 3]
    assert loaded.warnings[0].startswith("Page 2 is left out: The PDF is damaged (AssertionError: odd operand)")


@pytest.mark.parametrize("error", [RecursionError("deep"), KeyError("/X"), ValueError("x" * 999)])
def test_whatever_all_pages_raise_is_corruption_with_a_short_reason(monkeypatch, error):
    def fail(_page):
        raise error

    monkeypatch.setattr(PageObject, "extract_text", fail)
    caught = refused(pdf(show("First")))
    assert caught.load_code is LoadCode.CORRUPT
    assert type(error).__name__ in caught.message
    assert len(caught.message) < 320


def test_running_out_of_memory_or_time_is_not_the_files_fault(monkeypatch):
    stop = type("SoftTimeLimitExceeded", (Exception,), {"__module__": "billiard.exceptions"})
    for error in (MemoryError, stop, KeyboardInterrupt):

        def fail(_page, error=error):
            raise error

        monkeypatch.setattr(PageObject, "extract_text", fail)
        with pytest.raises(error):
            read_pdf(pdf(show("First")), CONFIG)


@pytest.mark.parametrize("keep", [9, 15, 120, 300])
def test_a_truncated_file_is_corrupt(keep):
    assert refused(pdf(show("First"))[:keep]).load_code is LoadCode.CORRUPT


def test_junk_before_the_header_is_passed_over():
    assert read_pdf(b"Received: by mail\r\n" * 9 + pdf(show("First page")), CONFIG).text == "First page"


def test_too_many_pages_are_refused_before_they_are_read():
    error = refused(pdf(*[show("x")] * 4), LoadConfig(max_pages=3))
    assert (error.load_code, "4 pages" in error.message) == (LoadCode.LIMIT_EXCEEDED, True)


def test_too_much_text_is_refused():
    assert refused(pdf(*[show("words " * 9)] * 9), LoadConfig(max_text_chars=100)).load_code is LoadCode.LIMIT_EXCEEDED


@pytest.fixture
def low_limits(monkeypatch):
    """Make the parsing limit small, so that a page can pass it in no time."""
    low = pdf_module._LIMITS.with_overwrites(stream_parsing_work_maximum_count=1000)
    monkeypatch.setattr(pdf_module, "_LIMITS", low)


ENDLESS = show("lost") + b" 0 0 m" * 1000


def test_an_endless_content_stream_is_refused(low_limits):
    assert refused(pdf(ENDLESS)).load_code is LoadCode.LIMIT_EXCEEDED


def test_one_page_over_the_limit_does_not_cost_the_good_ones(low_limits):
    loaded = read_pdf(pdf(show("First"), ENDLESS, show("Third")), CONFIG)
    assert loaded.text == "First\n\n\n\nThird"
    assert loaded.warnings[0].startswith("Page 2 is left out: The PDF would take too much work")


def test_many_pages_over_the_limit_end_the_reading(low_limits, monkeypatch):
    read = []
    extract = PageObject.extract_text

    def count(page):
        read.append(page)
        return extract(page)

    monkeypatch.setattr(PageObject, "extract_text", count)
    assert refused(pdf(show("First"), *[ENDLESS] * 50)).load_code is LoadCode.LIMIT_EXCEEDED
    assert len(read) == 12


def test_a_page_tree_that_multiplies_is_refused():
    levels = [
        b"<< /Type /Pages /Count 1 /Kids [%s] >>" % b" ".join([b"%d 0 R" % (number + 1)] * 10) for number in range(2, 8)
    ]
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    assert refused(assemble(CATALOG, *levels, page)).load_code is LoadCode.LIMIT_EXCEEDED


def test_half_characters_do_not_reach_the_text():
    cmap = b"1 begincodespacerange <00> <ff> endcodespacerange 2 beginbfchar <41> <d800> <42> <0042> endbfchar"
    font = b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /X /ToUnicode 3 0 R >> >> >>"
    assert read_pdf(pdf(show("AB"), resources=font, extra=stream(cmap)), CONFIG).text == "B"


def test_what_pypdf_logs_is_told_and_no_handler_stays():
    # Not none: pytest's own handler sits here as well once the logger does not propagate.
    before = list(logging.getLogger("pypdf").handlers)
    loaded = read_pdf(b"junk\n" + pdf(show("First page")), CONFIG)
    assert any(warning.startswith("pypdf: ") for warning in loaded.warnings)
    assert len(loaded.warnings) <= 4
    assert logging.getLogger("pypdf").handlers == before


def test_the_recursion_limit_is_not_touched():
    before = sys.getrecursionlimit()
    refused(pdf(b"[" * 50_000))
    assert sys.getrecursionlimit() == before
