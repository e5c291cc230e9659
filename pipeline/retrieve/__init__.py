"""Finding evidence for a question: several searches, fused by rank, and sentences that answer it. Pure."""

from pipeline.retrieve.answer import extract_answer
from pipeline.retrieve.question import MAX_QUESTION_CHARS, read_question
from pipeline.retrieve.search import find_passages, retrieve

__all__ = [
    "MAX_QUESTION_CHARS",
    "extract_answer",
    "find_passages",
    "read_question",
    "retrieve",
]
