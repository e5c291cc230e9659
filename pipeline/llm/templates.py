"""What a language model is told about a question: templates by name and version, filled with text that is only data."""

import re
from functools import cache
from importlib.resources import files
from string import Template

from pipeline.llm.untrusted import neutralise_asked

MAX_OUTPUT_TOKENS = 4_096
"""Of one answer; more than it needs, as a model may spend tokens on thought."""
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_THOUGHT = re.compile(r"\A\s*<think>(?:.*?</think>|.*\Z)", re.DOTALL)


def fill(name: str, **texts: str) -> str:
    """Fill a template of `prompts/`; forged tags in the texts become none."""
    return _read(name).substitute({place: neutralise_asked(text) for place, text in texts.items()})


def read_text(said: str) -> str:
    """Give what a model said, without its thoughts, controls and lone surrogates."""
    return _UNSTORABLE.sub("", _THOUGHT.sub("", said)).strip()


@cache
def _read(name: str) -> Template:
    return Template((files("pipeline.llm") / "prompts" / f"{name}.txt").read_text("utf-8").rstrip("\n"))
