"""Which passages the hybrid extractor asks a language model about, and how it joins what both say."""

import json
from contextlib import closing
from dataclasses import replace

import pytest

from pipeline.config import LlmConfig
from pipeline.errors import ModelBusy, ModelUnavailable, PassageUnread, UnreadCode
from pipeline.extract import ground
from pipeline.llm import LlmExtractor
from pipeline.llm.hybrid import SLICE, HybridExtractor, is_unsure, may_name_something, merge
from pipeline.models import Extraction, Mention, Relation, Usage
from pipeline.ontology import EntityType, Ontology, RelationType
from pipeline.ports import CallingExtractor, ChatAnswer

OPEN = Ontology(entity_types=(EntityType(label="Person"), EntityType(label="Company")))
CLOSED = Ontology(
    entity_types=OPEN.entity_types,
    relation_types=(RelationType(label="WORKS_FOR", patterns=(("Person", "Company"),)),),
)
QUIET = "nothing is named here"
SURE = "then came Ada Quill"
UNSURE = "then came Bram Oster"


def mention(name, type_="Person", text="", score=0.9, description=""):
    start = text.find(name) if text else 0
    return Mention(name, type_, start, start + len(name), description, score)


def relation(source, type_, target, description=""):
    return Relation(source, "Person", target, "Company", type_, description, 0, 1)


SCORES = {"Ada Quill": 0.9, "Bram Oster": 0.5}


COST = Usage(1, 10, 5, 0.01)


class Local:
    """Finds two known names; sure of one, unsure of the other."""

    fingerprint = "local-1"

    def __init__(self):
        self.read = []

    def extract(self, texts, ontology):
        self.read.append(list(texts))
        found = [[mention(n, text=t, score=s) for n, s in SCORES.items() if n in t] for t in texts]
        return [Extraction(tuple(mentions)) for mentions in found]


class Asked:
    """Answers in the reverse order, and remembers what it was asked and told."""

    fingerprint = "asked-1"

    def __init__(self, answer=None):
        self.answer = answer or (lambda text: Extraction((mention("Cleo Farr"),), usage=COST))
        self.asked, self.found, self.closed = [], [], 0

    def extract_each(self, texts, ontology, found=None):
        self.asked += texts
        self.found += found
        try:
            for position in reversed(range(len(texts))):
                yield position, self.answer(texts[position])
        finally:
            self.closed += 1


def hybrid(asked=None, local=None, unsure_below=0.75):
    return HybridExtractor(local or Local(), asked or Asked(), unsure_below)


# which passages


def test_sure_passages_are_not_asked_about_and_unsure_ones_with_what_is_known_of_them():
    asked = Asked()
    results = dict(hybrid(asked).extract_each([SURE, UNSURE, QUIET], OPEN))
    assert asked.asked == [UNSURE]
    assert asked.found == [(mention("Bram Oster", text=UNSURE, score=0.5),)]
    assert sorted(results) == [0, 1, 2]
    assert [m.name for m in results[0].mentions] == ["Ada Quill"]
    assert [m.name for m in results[1].mentions] == ["Cleo Farr"]
    assert results[1].usage == COST
    assert results[2] == Extraction()


def test_results_do_not_depend_on_batch_mates():
    texts = [SURE, UNSURE, QUIET, f"{SURE} with Bram Oster"] * SLICE
    together = dict(hybrid().extract_each(texts, OPEN))
    for position, text in enumerate(texts[:4]):
        assert dict(hybrid().extract_each([text], OPEN)) == {0: together[position]}
    assert all(together[position] == together[position % 4] for position in together)


def test_sure_passages_come_before_anything_is_asked_and_slice_by_slice():
    local, asked = Local(), Asked()
    results = hybrid(asked, local).extract_each([UNSURE, *[SURE] * (2 * SLICE)], OPEN)
    assert next(results)[0] == 1
    assert asked.asked == []
    assert [len(texts) for texts in local.read] == [SLICE]
    assert sorted(position for position, _ in results) == [0, *range(2, 2 * SLICE + 1)]
    assert [len(texts) for texts in local.read] == [SLICE, SLICE, 1]


@pytest.mark.parametrize("mean", [0.74, 0.76])
def test_the_mean_score_decides(mean):
    found = Extraction((mention("Ada Quill", score=mean + 0.2), mention("Bram Oster", score=mean - 0.2)))
    assert is_unsure(SURE, found, OPEN, 0.75) == (mean < 0.75)


def test_entities_without_the_relation_that_could_be_between_them_are_unsure():
    two = (mention("Ada Quill"), mention("Larkspur", "Company"))
    assert is_unsure(SURE, Extraction(two), CLOSED, 0.75)
    assert not is_unsure(SURE, Extraction(two), OPEN, 0.75), "no relation types: none were looked for"
    assert not is_unsure(SURE, Extraction(two, (relation("Ada Quill", "WORKS_FOR", "Larkspur"),)), CLOSED, 0.75)
    assert not is_unsure(SURE, Extraction((two[0], mention("Bram Oster"))), CLOSED, 0.75), "no pattern fits"
    assert not is_unsure(SURE, Extraction((two[0], two[0])), CLOSED, 0.75), "one entity, twice"


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("The rain fell. It fell all day.", False),
        ("“Well,” he said. “And then I went; I’d had enough.”\n- Or not?", False),
        ("", False),
        ("at noon he met Quill", True),
        ("NASA did", True),
        ("it cost 40 crowns", True),
        ("it ran iOS", True),
        ("東京は日本の首都である。", True),
        ("ради мира", False),
    ],
)
def test_a_passage_where_nothing_was_found_is_unsure_if_it_may_name_something(text, tells):
    assert may_name_something(text) is tells
    assert is_unsure(text, Extraction(), OPEN, 0.75) is tells


# what cannot be told


@pytest.mark.parametrize(
    "error", [PassageUnread(UnreadCode.MALFORMED, "no JSON"), ModelBusy("rate limit", retry_after=3.0)]
)
def test_what_the_language_model_cannot_tell_is_an_error_and_never_the_local_result(error):
    results = dict(hybrid(Asked(lambda text: error)).extract_each([UNSURE, SURE], OPEN))
    assert results[0] is error
    assert isinstance(results[1], Extraction)


def test_what_stops_the_local_model_stops_all():
    class Missing(Local):
        def extract(self, texts, ontology):
            raise ModelUnavailable("no weights")

    with pytest.raises(ModelUnavailable, match="no weights"):
        list(hybrid(local=Missing()).extract_each([SURE], OPEN))


def test_closing_it_closes_the_language_models_iterator():
    local, asked = Local(), Asked()
    with closing(hybrid(asked, local).extract_each([UNSURE] * 3 * SLICE, OPEN)) as results:
        next(results)
        assert asked.closed == 0
    assert asked.closed == 1


def test_closing_it_after_a_sure_passage_reads_no_further():
    local, asked = Local(), Asked()
    with closing(hybrid(asked, local).extract_each([SURE] * 3 * SLICE, OPEN)) as results:
        assert next(results)[0] == 0
    assert len(local.read) == 1
    assert asked.closed == 0


def test_the_language_model_is_given_all_unsure_passages_together():
    asked = Asked()
    list(hybrid(asked).extract_each([UNSURE] * 3 * SLICE, OPEN))
    assert asked.closed == 1


# how both are joined


def test_the_answer_holds_and_what_it_leaves_out_stays_where_the_local_model_is_sure():
    local = Extraction((mention("Paris", score=0.6), mention("Ada Quill", score=0.8), mention("Noon", score=0.5)))
    answer = Extraction((mention("Paris", "Company", score=0.6),), dropped={"unverified": 2, "invalid_item": 1})
    both = merge(local, answer, OPEN, 0.75)
    assert [(m.name, m.type) for m in both.mentions] == [("Paris", "Company"), ("Ada Quill", "Person")]
    assert both.dropped == {"unverified": 1, "invalid_item": 1}
    assert merge(local, replace(answer, dropped={"unverified": 1}), OPEN, 0.75).dropped == {}


def test_the_longer_description_is_kept_and_what_else_the_answer_says_of_an_entity():
    told = replace(mention("paris", description="A firm of Ghent."), properties='{"founded": 1}')
    for description in ("A firm.", "A firm of Ghent that makes lenses."):
        (kept,) = merge(
            Extraction((mention("Paris", description=description),)), Extraction((told,)), OPEN, 0.75
        ).mentions
        assert kept.description == max(description, "A firm of Ghent.", key=len)
        assert kept.properties == '{"founded": 1}'


def test_relations_of_both_are_kept_worded_by_the_language_model_and_counts_are_added():
    local = Extraction(
        (mention("Ada Quill"), mention("Larkspur", "Company")),
        (relation("Ada Quill", "WORKS_FOR", "Larkspur"), relation("Ada Quill", "WORKS_FOR", "Oster")),
        {"a": 1},
    )
    asked = Extraction(
        (mention("Cleo Farr"),),
        (
            relation("ada quill", "works for", "larkspur", "She is paid."),
            relation("Cleo Farr", "WORKS_FOR", "Larkspur"),
        ),
        {"a": 2, "b": 1},
        (mention("X1", "Ship"),),
        (relation("Cleo Farr", "SAILS", "X1"),),
        Usage(2, 20, 10, 0.02),
    )
    both = merge(local, asked, CLOSED, 0.75)
    assert [m.name for m in both.mentions] == ["Cleo Farr", "Ada Quill", "Larkspur"]
    assert [(r.source, r.target, r.description) for r in both.relations] == [
        ("ada quill", "larkspur", "She is paid."),
        ("Cleo Farr", "Larkspur", ""),
        ("Ada Quill", "Oster", ""),
    ]
    assert both.dropped == {"a": 3, "b": 1}
    assert both.undeclared_mentions == asked.undeclared_mentions
    assert both.undeclared_relations == asked.undeclared_relations
    assert both.usage == asked.usage


class Scripted:
    """A language model that always gives the same answer, of the known cost of one call."""

    model = "fake/one"

    def __init__(self, entities, relationships):
        self.text = json.dumps({"entities": entities, "relationships": relationships})
        self.prompts = []

    def bound(self, request):
        return Usage(1, 100, 100, 0.1)

    def complete(self, request):
        self.prompts.append(request.user + request.system)
        return ChatAnswer(self.text, "stop", COST, self.model)


def test_with_a_language_model_an_entity_keeps_its_local_spans_and_new_ones_get_the_first_place():
    text = "Later Bram Oster of ACME, not acme Ltd, met Ada; acme and BRAM OSTER rest"
    model = Scripted(
        [
            {"name": "bram oster", "type": "Person", "description": "He met Ada."},
            {"name": "Acme", "type": "Company", "description": "It rests."},
        ],
        [{"source": "Bram Oster", "target": "Acme", "type": "works for", "description": "Oster works for Acme."}],
    )
    joined = HybridExtractor(Local(), LlmExtractor(model, LlmConfig(model="fake/one"), threads=1), 0.75)
    ((position, found),) = joined.extract_each([text], CLOSED)
    assert position == 0
    assert "Bram Oster" in model.prompts[0]
    grounded = ground(text, found, CLOSED)
    assert [(m.name, m.start, m.score) for m in grounded.mentions] == [("Bram Oster", 6, 0.5), ("ACME", 20, 1.0)]
    assert grounded.mentions[0].description == "He met Ada."
    assert [(r.source, r.type, r.target) for r in grounded.relations] == [("Bram Oster", "WORKS_FOR", "ACME")]
    assert found.usage == COST


def test_the_fingerprint_changes_with_either_extractor_and_the_threshold():
    first = hybrid().fingerprint
    assert hybrid().fingerprint == first
    other_local, other_asked = Local(), Asked()
    other_local.fingerprint = other_asked.fingerprint = "other"
    others = {hybrid(local=other_local), hybrid(other_asked), hybrid(unsure_below=0.7)}
    assert len({first, *(other.fingerprint for other in others)}) == 4
    assert isinstance(hybrid(), CallingExtractor)
