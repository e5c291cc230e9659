"""What stages leave for each other comes back as it was, also where an older release has left it."""

import orjson

from pipeline.models import Extraction, Mention, Relation, Usage
from scheduler.codec import decode_extraction, encode

ADA = Mention("Ada", "Person", 0, 3, "A pioneer.", 0.5, "7", '{"age": 36}')
FOUNDED = Relation("Ada", "Person", "Acme", "Organization", "FOUNDED", "Ada founded Acme.", 0, 17, "7", "8")


def test_an_extraction_comes_back_as_it_was():
    said = Extraction((ADA,), (FOUNDED,), {"invalid_item": 2}, (ADA, ADA), (FOUNDED,), Usage(1, 2, 3, None))
    assert decode_extraction(encode(said)) == said


def test_an_extraction_of_an_older_release_may_lack_the_later_fields():
    mentions = [{"name": "Ada", "type": "Person", "start": 0, "end": 3}]
    relations = [{name: value for name, value in vars(FOUNDED).items() if not name.endswith("_key")}]
    stored = orjson.dumps({"mentions": mentions, "relations": relations, "dropped": {}})
    bare = Relation("Ada", "Person", "Acme", "Organization", "FOUNDED", "Ada founded Acme.", 0, 17)
    assert decode_extraction(stored) == Extraction((Mention("Ada", "Person", 0, 3),), (bare,))
