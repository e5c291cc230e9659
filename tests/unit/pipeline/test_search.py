from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from pipeline.errors import EmbedderMismatch, QueryInvalid
from pipeline.models import (
    Evidence,
    FoundFact,
    FoundRelation,
    GraphRecord,
    Query,
    Rerank,
    Scope,
    SearchPath,
    WordMatch,
    WordMatches,
)
from pipeline.ports import Vectors
from pipeline.retrieve import retrieve

SCORES = {"p1": 0.9, "p2": 0.4, "p3": 0.6, "p4": 0.4, "p5": 0.1}


class OneVector:
    """Gives every text the same vector."""

    model_id, dimension = "test:one", 2

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.tile(np.array([1, 0], dtype=np.float32), (len(texts), 1))


@dataclass
class Shelf:
    """A reader with fixed answers that remembers what it was asked."""

    facts: Sequence[float] = (0.9, 0.5)
    pairs: Sequence[tuple[str, str, str]] = (("e1", "x", "f0"), ("e2", "x", "r1"), ("x", "y", "r2"))
    documents: bool = True
    notes: list[str] = field(default_factory=list)
    model: str = OneVector.model_id
    asked: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        if not callable(found) or name.startswith("_"):
            return found

        def call(*arguments: Any) -> Any:
            self.asked[name] = arguments
            return found(*arguments)

        return call

    def gaps(self) -> list[str]:
        return self.notes

    def record(self) -> GraphRecord:
        return GraphRecord(self.model, 2, "store")

    def has_documents(self, scope: Scope) -> bool:
        return self.documents

    def nearest_passages(self, *_: Any) -> list[str]:
        return ["p1", "p3"]

    def match_passages(self, *_: Any) -> WordMatches:
        return WordMatches(9, {"acme": 1}, (WordMatch("p2", "acme", ("acme",)),))

    def nearest_facts(self, vector: Vectors, k: int, scope: Scope) -> list[FoundFact]:
        found = (FoundFact(Evidence("fact", f"f{i}", "", score), ("p4",)) for i, score in enumerate(self.facts))
        return list(found)[:k]

    def nearest_entities(self, *_: Any) -> list[str]:
        return ["e2", "e3"]

    def match_entities(self, *_: Any) -> list[str]:
        return ["e3"]

    def entities_named(self, keys: Sequence[str], scope: Scope) -> dict[str, list[str]]:
        return {key: ["e1"] for key in keys if key == "acme"}

    def passages_naming(self, *_: Any) -> list[str]:
        return ["p5"]

    def linked_passages(self, *_: Any) -> list[str]:
        return ["p3"]

    def relations_of(self, ids: Sequence[str], vector: Vectors, k: int, scope: Scope) -> list[FoundRelation]:
        touching = [one for one in self.pairs if {*one[:2]} & set(ids)]
        return [FoundRelation(Evidence("relation", name, "", 0.3), a, b) for a, b, name in touching][:k]

    def siblings(self, *_: Any) -> list[str]:
        return ["s1", "e1"]

    def passages(self, ids: Sequence[str], vector: Vectors, scope: Scope) -> list[Evidence]:
        return [Evidence("passage", one, one, SCORES[one]) for one in ids]

    def entities(self, ids: Sequence[str], vector: Vectors, scope: Scope) -> list[Evidence]:
        return [Evidence("entity", one, one, 0.2) for one in ids]


def ask(shelf: Shelf, question: str = "Who founded Acme?", **options: Any) -> Any:
    return retrieve(Query(question, **options), shelf, OneVector())  # type: ignore[arg-type]


def ids(found: Any, kind: str) -> list[str]:
    return [one.id for one in found.evidence if one.kind == kind]


def test_all_paths_bring_evidence_of_all_kinds_with_the_paths_that_found_it():
    found = ask(Shelf())
    assert {one.kind for one in found.evidence} == {"passage", "fact", "relation", "entity"}
    paths = {one.id: set(one.paths) for one in found.evidence}
    assert paths["p3"] == {"passages", "links"}
    assert (paths["p5"], paths["p4"], paths["p2"]) == ({"exact_names"}, {"facts"}, {"passages"})
    assert (paths["e1"], paths["e3"], paths["f1"], paths["r1"]) == (
        {"exact_names"},
        {"fuzzy_names"},
        {"facts"},
        {"links"},
    )
    assert all(type(path) is str for one in found.evidence for path in one.paths)
    assert found.incomplete == ()
    assert found.hint == "who"


def test_a_relation_that_is_a_fact_as_well_is_given_once():
    found = ask(Shelf())
    assert ids(found, "fact") == ["f0", "f1"]
    assert ids(found, "relation") == ["r1"]
    assert next((one.hop, set(one.paths)) for one in found.evidence if one.id == "f0") == (1, {"facts", "links"})


@pytest.mark.parametrize(
    ("path", "methods", "kinds"),
    [
        (SearchPath.PASSAGES, {"nearest_passages", "match_passages"}, {"passage"}),
        (SearchPath.FACTS, {"nearest_facts"}, {"passage", "fact"}),
        (SearchPath.EXACT_NAMES, {"entities_named", "passages_naming"}, {"passage", "entity"}),
        (SearchPath.FUZZY_NAMES, {"match_entities", "nearest_entities"}, {"entity"}),
        (
            SearchPath.LINKS,
            # Without seeds of another path, links begin at what is named or similar, which is not shown.
            {
                *("entities_named", "match_entities", "nearest_entities", "nearest_passages"),
                *("linked_passages", "relations_of"),
            },
            {"passage", "relation"},
        ),
        (SearchPath.CYPHER, set(), set()),
    ],
)
def test_a_path_alone_asks_and_gives_its_own_only(path, methods, kinds):
    shelf = Shelf()
    found = ask(shelf, paths=frozenset({path}))
    assert shelf.asked.keys() - {"gaps", "record", "passages", "entities"} == methods
    assert {one.kind for one in found.evidence} == kinds


def test_numbers_bound_each_kind():
    found = ask(Shelf(), passages=2, entities=1, facts=1, relations=1)
    assert [len(ids(found, kind)) for kind in ("passage", "entity", "fact")] == [2, 1, 1]
    none = ask(Shelf(), entities=0, facts=0, relations=0)
    assert {one.kind for one in none.evidence} == {"passage"}


def test_facts_are_at_most_twelve_and_the_first_three_stay_however_weak():
    assert ids(ask(Shelf(facts=[0.9] * 15)), "fact") == [f"f{i}" for i in range(12)]
    assert ids(ask(Shelf(facts=[0.2, 0.1, 0.05, 0.04])), "fact") == ["f0", "f1", "f2"]
    assert ids(ask(Shelf(facts=[0.9, 0.3, 0.26, 0.25, 0.2499])), "fact") == ["f0", "f1", "f2", "f3"]


def test_a_rerank_by_cosine_goes_by_similarity_alone_and_ties_by_id():
    found = ask(Shelf(), rerank=Rerank.COSINE)
    assert ids(found, "passage") == ["p1", "p3", "p2", "p4", "p5"]
    assert ids(ask(Shelf(), rerank=Rerank.COSINE, passages=3), "passage") == ["p1", "p3", "p2"]


def test_only_a_question_for_all_there_are_brings_siblings():
    shelf = Shelf()
    assert ids(ask(shelf, "List all founders of Acme"), "entity") == ["e1", "e3", "e2", "s1"]
    assert shelf.asked["siblings"][0] == ["e1", "e3", "e2"]
    assert "s1" not in ids(ask(Shelf()), "entity")
    assert "s1" not in ids(ask(Shelf(), "List all of Acme", paths=frozenset({SearchPath.EXACT_NAMES})), "entity")


def test_relations_over_several_hops_are_numbered_and_what_a_cap_cut_is_told_of():
    found = ask(Shelf(), expand_hops=2)
    assert [(one.id, one.hop) for one in found.evidence if one.kind == "relation"] == [("r1", 1), ("r2", 2)]
    assert found.incomplete == ()
    busy = [("e1", f"x{i}", f"r{i}") for i in range(9)]
    cut = ask(Shelf(pairs=busy), expand_hops=2, passages=1)
    assert len(ids(cut, "relation")) == 4
    (note,) = cut.incomplete
    assert "More relations" in note
    assert ask(Shelf(pairs=busy), passages=1).incomplete == ()


def test_a_long_question_is_cut_and_a_wordless_one_refused():
    (note,) = ask(Shelf(), "Acme " * 20_000).incomplete
    assert "4000 characters" in note
    with pytest.raises(QueryInvalid, match="empty"):
        ask(Shelf(), "?" * 100_000)


@pytest.mark.parametrize("documents", [("x",), ()])
def test_a_scope_without_a_document_is_told_of_and_not_searched(documents):
    shelf = Shelf(documents=False, notes=["An index is missing."])
    found = ask(shelf, scope=Scope(documents=documents))
    assert found.evidence == ()
    assert found.incomplete == ("An index is missing.", "No document is in the scope.")
    assert shelf.asked.keys() == {"gaps", "record", "has_documents"}


def test_a_scope_reaches_every_search():
    shelf, scope = Shelf(), Scope(documents=("x",))
    ask(shelf, "List all founders of Acme", scope=scope)
    for name, arguments in shelf.asked.items():
        assert name in {"gaps", "record"} or arguments[-1] is scope, name


def test_another_embedder_than_the_graphs_is_refused_by_name():
    with pytest.raises(EmbedderMismatch, match="test:other"):
        ask(Shelf(model="test:other"))
