"""Reading passages with a language model: questions, answers, and what is done about bad ones. Rules: docs/llm.md."""

from pipeline.llm.extractor import LlmExtractor

__all__ = ["LlmExtractor"]
