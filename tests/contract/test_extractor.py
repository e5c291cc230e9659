"""What the pipeline relies on, of every extractor."""

import re
from itertools import pairwise

import pytest

from pipeline.adapters.callables import CallableExtractor
from pipeline.adapters.spacy_rules import SpacyRulesExtractor
from pipeline.extract import extract
from pipeline.ids import normalise_name
from pipeline.ontology import DEFAULT_ONTOLOGY, EntityType, Ontology

TEXTS = [
    "Marta Keller founded Nordlicht Systems in Bergen in 1998. She sold it to Halvorsen Group.",
    "",
    "  \n\n ",
    "no names here, only words.",
    "Marta Keller.",
    "東京は日本の首都である。 \U0001f600 Café Müller stands in Łódź.",
    "The Halvorsen Group,\nbased in Oslo, hired Marta Keller. " * 12,
    "(((([[[[ **Bold Title** | a | b |\n|---|---|\n| Nordlicht Systems | Bergen |",
]
NARROW = Ontology(entity_types=(EntityType(label="Organisation", description="A company."),))


def find_capitals(text):
    found = list(re.finditer(r"(?!She|The)[A-Z]\w+(?: [A-Z]\w+)*", text))
    entities = [{"name": m.group(), "type": "Organization", "start": m.start(), "end": m.end()} for m in found]
    return entities, [{"source": a["name"], "target": b["name"], "type": "near"} for a, b in pairwise(entities)]


@pytest.fixture(params=["spacy-rules", "spacy-rules with concepts", "callable"])
def extractor(request):
    match request.param:
        case "spacy-rules":
            return SpacyRulesExtractor()
        case "spacy-rules with concepts":
            return SpacyRulesExtractor(concepts=True)
        case _:
            return CallableExtractor(find_capitals, "capitals-1")


def test_results_run_parallel_to_the_texts(extractor):
    found = extractor.extract(TEXTS, DEFAULT_ONTOLOGY)
    assert len(found) == len(TEXTS)
    assert found[1] == found[2] == extractor.extract([""], DEFAULT_ONTOLOGY)[0]
    assert extractor.extract([], DEFAULT_ONTOLOGY) == []


def test_results_do_not_depend_on_batch_mates(extractor):
    together = extractor.extract(TEXTS, DEFAULT_ONTOLOGY)
    alone = [extractor.extract([text], DEFAULT_ONTOLOGY)[0] for text in TEXTS]
    backwards = extractor.extract(TEXTS[::-1], DEFAULT_ONTOLOGY)[::-1]
    assert together == alone == backwards


def test_grounding_finds_every_mention_where_the_extractor_put_it(extractor):
    raw = extractor.extract(TEXTS, DEFAULT_ONTOLOGY)
    for text, before, after in zip(TEXTS, raw, extract(TEXTS, extractor, DEFAULT_ONTOLOGY), strict=True):
        assert [(m.start, m.end) for m in after.mentions] == sorted((m.start, m.end) for m in before.mentions)
        assert all(normalise_name(text[m.start : m.end]) == normalise_name(m.name) for m in before.mentions)
        assert "unknown_end" not in after.dropped


def test_types_are_of_the_ontology_after_grounding(extractor):
    for ontology in (DEFAULT_ONTOLOGY, NARROW):
        types = {m.type for found in extract(TEXTS, extractor, ontology) for m in found.mentions}
        assert types
        assert types <= set(ontology.labels)


def test_relations_say_where_they_stand(extractor):
    found = extract(TEXTS, extractor, DEFAULT_ONTOLOGY)
    relations = [(text, r) for text, one in zip(TEXTS, found, strict=True) for r in one.relations]
    assert relations
    for text, relation in relations:
        assert 0 <= relation.start < relation.end <= len(text)
        assert relation.description
        assert re.fullmatch(r"\w+", relation.type)


def test_the_fingerprint_is_the_same_for_the_same_settings(extractor):
    assert extractor.fingerprint
    others = {SpacyRulesExtractor().fingerprint, SpacyRulesExtractor(concepts=True).fingerprint, "capitals-1"}
    assert len(others) == 3
    assert extractor.fingerprint in others
