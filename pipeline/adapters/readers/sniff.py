"""Telling kinds of files by their first bytes, because names lie."""

from enum import StrEnum


class Kind(StrEnum):
    """What the bytes look like."""

    PDF = "pdf"
    HTML = "html"
    BINARY = "binary"
    """An archive, picture, program or other kind that holds no plain text."""
    OTHER = "other"
    """No mark of any kind: text, if anything."""


# PDF readers search the header in the first kilobyte; mail gateways put junk before it.
_PDF_WINDOW = 1024
_PDF_HEADER = b"%PDF-"
_HTML_HEADERS = (b"<!doctype html", b"<html")
_BINARY_HEADERS = (
    b"PK\x03\x04",  # zip, and with it docx, xlsx, odt, epub
    b"PK\x05\x06",  # an empty zip
    b"\x1f\x8b",  # gzip
    b"BZh91AY&SY",  # bzip2
    b"\xfd7zXZ\x00",  # xz
    b"7z\xbc\xaf\x27\x1c",  # 7-zip
    b"\x28\xb5\x2f\xfd",  # zstd
    b"Rar!\x1a\x07",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",  # doc, xls, ppt
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",  # JPEG
    b"GIF87a",
    b"GIF89a",
    b"II*\x00",  # TIFF
    b"MM\x00*",  # TIFF
    b"OggS\x00",
    b"fLaC\x00",
    b"ID3\x03\x00",
    b"ID3\x04\x00",
    b"\x7fELF",
    b"\xca\xfe\xba\xbe",  # Java class, Mach-O
    b"\xcf\xfa\xed\xfe",  # Mach-O
    b"MZ\x90\x00",  # Windows program
    b"\x00asm",
    b"SQLite format 3\x00",
    b"PAR1",  # Parquet
)


def sniff(data: bytes) -> Kind:
    """Tell the kind of a file by its beginning."""
    head = data[:_PDF_WINDOW]
    if head.startswith(_PDF_HEADER):
        return Kind.PDF
    if head.startswith(_BINARY_HEADERS) or (head.startswith(b"RIFF") and head[8:12] in {b"WAVE", b"AVI ", b"WEBP"}):
        return Kind.BINARY
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_HTML_HEADERS):
        return Kind.HTML
    return Kind.OTHER


def has_pdf_header(data: bytes) -> bool:
    """Whether a PDF header stands where PDF readers look for it, junk before it or not."""
    return _PDF_HEADER in data[:_PDF_WINDOW]
