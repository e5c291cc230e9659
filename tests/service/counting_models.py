"""The models of no cost, with an extractor that writes down what it is asked, and fails where it is told to."""

import json
import os
from pathlib import Path

import tiny_models

FOLDER = Path(os.environ["GRAPHMILL_DATA_DIR"])  # noqa: TID251 - how the test and its worker meet
ASKED = "asked.jsonl"
FAILING = "failing"
"""While there is a file of that name, passages that hold its text cannot be extracted."""


def extract(text):
    with (FOLDER / ASKED).open("ab", buffering=0) as asked:
        asked.write(json.dumps(text).encode() + b"\n")
    failing = FOLDER / FAILING
    if failing.exists() and failing.read_text("utf-8") in text:
        raise RuntimeError("told to fail")
    return tiny_models.extract(text)
