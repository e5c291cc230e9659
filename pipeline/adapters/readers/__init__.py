"""Readers of files, one module a format; `FileReader` picks by the bytes first, then by the name."""

from pipeline.adapters.readers.file import FileReader

__all__ = ["FileReader"]
