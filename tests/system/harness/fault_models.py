"""Models of little cost that take some time, so that faults strike work that is under way."""

import hashlib
import itertools
import re
import time

EXTRACT_SECONDS = 0.15
EMBED_SECONDS = 0.05
WIDTH = 32
NAME = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)*")


def extract(text):
    """Capitalised words are entities, neighbours are related."""
    time.sleep(EXTRACT_SECONDS)
    found = [(m.group(), m.start(), m.end()) for m in NAME.finditer(text) if len(m.group()) > 2]
    entities = [
        {"name": name, "type": "Concept", "start": start, "end": end, "description": name, "score": 1.0}
        for name, start, end in found
    ]
    relations = [
        {
            "source": a[0], "target": b[0], "type": "NEAR", "description": text[a[1] : b[2]],
            "span_start": a[1], "span_end": b[2],
        }
        for a, b in itertools.pairwise(found)
        if a[0] != b[0]
    ]  # fmt: skip
    return entities, relations


def embed(texts):
    """Words are hashed into a few places."""
    time.sleep(EMBED_SECONDS)
    vectors = []
    for text in texts:
        vector = [0.0] * WIDTH
        for word in re.findall(r"\w+", text.lower()) or ["nothing"]:
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % WIDTH] += 1.0
        length = sum(x * x for x in vector) ** 0.5
        vectors.append([x / length for x in vector])
    return vectors
