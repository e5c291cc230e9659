"""Finding files, reading their bytes, and cleaning the text that readers make of them."""

from pipeline.load.clean import clean, require_text
from pipeline.load.files import read_file
from pipeline.load.walk import SUPPORTED_SUFFIXES, FoundFile, walk_files

__all__ = ["SUPPORTED_SUFFIXES", "FoundFile", "clean", "read_file", "require_text", "walk_files"]
