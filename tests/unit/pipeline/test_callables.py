import math
import sys
from datetime import UTC, datetime
from hashlib import sha256

import numpy as np
import pytest

from pipeline.adapters.callables import (
    CallableEmbedder,
    CallableExtractor,
    as_embedder,
    as_extractor,
    load_attribute,
    source_fingerprint,
)
from pipeline.errors import EmbeddingInvalid, ModelOutputInvalid, ModelUnavailable
from pipeline.models import Extraction
from pipeline.ontology import DEFAULT_ONTOLOGY

MODULE = """
def extract(text):
    return [{"name": text, "type": "Person", "start": 0, "end": len(text)}], []

def embed(texts):
    return [[float(len(t)), 1.0] for t in texts]

class Reader:
    fingerprint = "reader-1"
    def extract(self, texts, ontology):
        return []

class Vectors:
    model_id = "vectors-1"
    dimension = 2
    def embed(self, texts):
        return [[1.0, 0.0] for _ in texts]

LIMIT = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "own_models.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield "own_models"
    sys.modules.pop("own_models", None)


def test_a_function_becomes_an_extractor_whose_fingerprint_is_of_name_and_source(module):
    extractor = as_extractor(load_attribute(f"{module}:extract"), f"{module}:extract")
    assert extractor.extract(["Ann"], DEFAULT_ONTOLOGY)[0].mentions[0].name == "Ann"
    assert extractor.fingerprint == source_fingerprint(f"{module}:extract")
    assert extractor.fingerprint != source_fingerprint(f"{module}:embed")


def test_another_source_gives_another_fingerprint(module, tmp_path):
    load_attribute(f"{module}:extract")
    before = source_fingerprint(f"{module}:extract")
    (tmp_path / "own_models.py").write_text(MODULE + "\n# changed", encoding="utf-8")
    assert source_fingerprint(f"{module}:extract") != before


def test_a_function_becomes_an_embedder_of_unit_vectors(module):
    embedder = as_embedder(load_attribute(f"{module}:embed"), f"{module}:embed")
    vectors = embedder.embed(["abc", ""])
    assert embedder.dimension == 2
    assert embedder.model_id.startswith(f"python:{module}:embed@")
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert embedder.embed([]).shape == (0, 2)


def test_classes_and_instances_that_keep_the_port_pass_through(module):
    reader = load_attribute(f"{module}:Reader")
    vectors = load_attribute(f"{module}:Vectors")
    instance = reader()
    assert as_extractor(instance, "x:y") is instance
    assert as_extractor(reader, "x:y").fingerprint == "reader-1"
    assert as_embedder(vectors, "x:y").model_id == "vectors-1"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("own_models", "module:attribute"),
        (":extract", "module:attribute"),
        ("own_models:", "module:attribute"),
        ("no_such_module_here:extract", "'no_such_module_here', which is not installed"),
        ("own_models:missing", "has no 'missing'"),
        ("own_models:Reader.missing", "has no 'Reader.missing'"),
    ],
)
def test_names_of_nothing_are_refused_with_the_fix(module, name, says):
    with pytest.raises(ModelUnavailable, match=says):
        load_attribute(name)


def test_a_module_that_needs_what_is_not_installed_says_what(tmp_path, monkeypatch):
    (tmp_path / "needs_more.py").write_text("import no_such_library_here\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelUnavailable, match="no_such_library_here"):
        load_attribute("needs_more:extract")


def test_objects_of_another_kind_are_refused(module):
    limit = load_attribute(f"{module}:LIMIT")
    with pytest.raises(ModelUnavailable, match="an extractor is"):
        as_extractor(limit, f"{module}:LIMIT")
    with pytest.raises(ModelUnavailable, match="an embedder is"):
        as_embedder(limit, f"{module}:LIMIT")


def test_items_without_names_are_counted_and_odd_fields_take_their_defaults():
    entities = [{"name": None}, "Ann", {"name": "Bob", "type": 3, "start": np.int64(1), "score": math.nan}]
    relations = [
        {"source": "Bob", "target": "Ann"},
        {"source": "Bob", "target": "Ann", "type": "KNOWS", "span_end": "x"},
    ]
    found = CallableExtractor(lambda _: (entities, relations), "f").extract(["text"], DEFAULT_ONTOLOGY)[0]
    assert [(m.name, m.type, m.start, m.end, m.score) for m in found.mentions] == [("Bob", "", 1, -1, 1.0)]
    assert [(r.type, r.end, r.source_type) for r in found.relations] == [("KNOWS", -1, "")]
    assert found.dropped == {"invalid_item": 3}


@pytest.mark.parametrize("answer", [None, [], ([], []), ([], [], []), ({}, []), "ab"])
def test_only_a_pair_of_lists_is_an_extraction(answer):
    extractor = CallableExtractor(lambda _: answer, "f")
    if answer == ([], []):
        assert extractor.extract(["text"], DEFAULT_ONTOLOGY) == [Extraction()]
    else:
        with pytest.raises(ModelOutputInvalid, match="two lists"):
            extractor.extract(["text"], DEFAULT_ONTOLOGY)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda texts: [[0.0, 0.0] for _ in texts], "zero vector"),
        (lambda texts: [[math.nan, 1.0] for _ in texts], "NaN"),
        (lambda texts: [[math.inf, 1.0] for _ in texts], "infinite"),
        (lambda texts: [1.0 for _ in texts], "shape"),
        (lambda texts: [[] for _ in texts], "shape"),
        (lambda texts: [[1.0]] * (len(texts) + 1), "shape"),
        (lambda texts: [["one"] for _ in texts], "no table of numbers"),
        (lambda _: None, "shape|table"),
    ],
)
def test_vectors_that_cannot_be_used_are_refused_at_once(function, says):
    with pytest.raises(EmbeddingInvalid, match=says):
        CallableEmbedder(function, "own")


def test_a_width_that_changes_is_refused():
    def by_length(texts):
        return [[1.0] * (3 if len(texts[0]) > 10 else 2) for _ in texts]

    embedder = CallableEmbedder(by_length, "own")
    assert embedder.dimension == 3
    with pytest.raises(EmbeddingInvalid, match="width 2, but 3"):
        embedder.embed(["short"])


def test_the_fingerprint_of_a_module_without_a_file_is_of_its_name():
    assert source_fingerprint("builtins:print") != source_fingerprint("builtins:len")
    assert len(source_fingerprint("builtins:print")) == len(sha256().hexdigest()) // 2


class Odd:
    """An embedder that says one width and gives another."""

    model_id = "odd"

    def __init__(self, said, given):
        self.dimension, self._given = said, given

    def embed(self, texts):
        return np.ones((len(texts), self._given), dtype=np.float32)


@pytest.mark.parametrize(("said", "given"), [(8193, 8193), (0, 4), (-1, 4), (4, 3)])
def test_an_embedder_that_cannot_be_used_is_found_out_before_anything_is_written(said, given):
    with pytest.raises(EmbeddingInvalid, match="odd"):
        as_embedder(Odd(said, given), "x:y")


def test_a_function_whose_vectors_are_too_wide_is_refused_at_once():
    with pytest.raises(EmbeddingInvalid, match="8192"):
        CallableEmbedder(lambda texts: [[1.0] * 8193 for _ in texts], "own")


def test_properties_of_entities_travel_as_json_and_what_has_no_json_is_none():
    odd = {1: "key", "b": np.float64(1.5), "a": datetime(2001, 2, 3, tzinfo=UTC), "c": {"x"}, "d": "\ud800"}
    circular: dict = {}
    circular["self"] = circular
    entities = [{"name": "Ann", "properties": given} for given in (odd, {}, circular, ["x"], {"n": 10**5_000}, None)]
    found = CallableExtractor(lambda _: (entities, []), "f").extract(["text"], DEFAULT_ONTOLOGY)[0]
    told = '{"a": "2001-02-03T00:00:00+00:00", "b": 1.5, "c": null, "d": "\\ud800"}'
    assert [m.properties for m in found.mentions] == [told, *[""] * 5]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("def f(:", "SyntaxError"), ("raise ValueError('no key')", "ValueError: no key"), ("exit(3)", "SystemExit: 3")],
)
def test_a_module_that_fails_when_it_is_imported_is_named_with_its_fault(text, reason, tmp_path, monkeypatch):
    (tmp_path / f"broken_{len(text)}.py").write_text(f"import sys\nfrom sys import exit\n{text}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModelUnavailable, match=f"cannot be imported, correct it: {reason}"):
        load_attribute(f"broken_{len(text)}:f")
