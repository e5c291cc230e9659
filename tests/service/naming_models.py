"""An extractor that says more than the ontology of its test declares, and writes down what it is asked."""

import json
import os
import re
from itertools import pairwise
from pathlib import Path

ASKED = Path(os.environ["GRAPHMILL_DATA_DIR"]) / "asked.jsonl"  # noqa: TID251 - how the test and its worker meet
TYPES = {
    "Ada": "person", "Bram": "Person", "Acme": "Company", "Aspirin": "drug", "Ibuprofen": "DRUG", "Tea": "food/drink",
    "Flu": "disease", "Blob": "",
}  # fmt: skip
VERBS = {"treats": "treats", "joined": "works for", "hired": "WORKS_FOR", "likes": "Likes"}
WORD = re.compile(r"\w+")


def extract(text):
    """Find the known names, and the verbs between two of them."""
    with ASKED.open("ab", buffering=0) as asked:
        asked.write(json.dumps(text).encode() + b"\n")
    words = list(WORD.finditer(text))
    entities = [
        {"name": word[0], "type": TYPES[word[0]], "start": word.start(), "end": word.end(), "score": 1.0}
        for word in words
        if word[0] in TYPES
    ]
    relations = [
        {
            "source": source[0], "target": target[0], "type": VERBS[verb[0]],
            "span_start": source.start(), "span_end": target.end(),
        }
        for (source, verb), (_, target) in pairwise(pairwise(words))
        if source[0] in TYPES and target[0] in TYPES and verb[0] in VERBS
    ]  # fmt: skip
    return entities, relations
