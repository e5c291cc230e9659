"""What passages say, held to their text: every mention stands in it, every relation joins two mentions."""

from pipeline.extract.drops import Drop
from pipeline.extract.ground import ground, reground
from pipeline.extract.names import clean, is_name
from pipeline.extract.passages import StopAsking, extract, extract_each, stop, stoppable

__all__ = [
    "Drop",
    "StopAsking",
    "clean",
    "extract",
    "extract_each",
    "ground",
    "is_name",
    "reground",
    "stop",
    "stoppable",
]
