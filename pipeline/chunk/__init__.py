"""Cutting text into passages that a model can read and a citation can point at."""

from pipeline.chunk.cut import chunk, chunk_fingerprint
from pipeline.chunk.tokens import estimate_tokens

__all__ = ["chunk", "chunk_fingerprint", "estimate_tokens"]
