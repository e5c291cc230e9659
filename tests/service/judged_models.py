"""An extractor of persons with a year of birth, as in `Ada Quill (born 1900)`."""

import re

PERSON = re.compile(r"([A-Z]\w+(?: [A-Z]\w+)*) \(born (\d+)\)")


def extract(text):
    """Find the persons; none is related to another."""
    found = PERSON.finditer(text)
    entities = [
        {"name": one[1], "type": "Person", "start": one.start(1), "end": one.end(1), "properties": {"born": one[2]}}
        for one in found
    ]
    return entities, []
