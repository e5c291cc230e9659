"""Finding files, reading their bytes, and cleaning the text that readers make of them."""

from pipeline.load.clean import clean
from pipeline.load.files import read_file
from pipeline.load.walk import SUPPORTED_SUFFIXES, FoundFile, walk_files

__all__ = ["SUPPORTED_SUFFIXES", "FoundFile", "clean", "read_file", "walk_files"]
