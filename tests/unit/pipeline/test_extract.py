import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ModelOutputInvalid
from pipeline.extract import extract, ground, is_name
from pipeline.ids import normalise_name
from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import DEFAULT_ONTOLOGY, UNKNOWN, EntityType, Ontology, RelationType

TEXT = "Alice Ann joined Acme\n Corp in Paris. Acme Corp planned more."


def mention(name, start=-1, end=-1, kind="Person", **more):
    return Mention(name, kind, start, end, **more)


def relation(source, target, rel_type="JOINED", start=0, end=38, source_type="", target_type="", description=""):
    return Relation(source, source_type, target, target_type, rel_type, description, start, end)


def grounded(*mentions, relations=(), ontology=DEFAULT_ONTOLOGY, text=TEXT):
    return ground(text, Extraction(mentions, tuple(relations)), ontology)


@pytest.mark.parametrize(
    "name", ["Alice", "The Great Gatsby", "US", "IT", "WHO", "C#", "x" * 80, "東京", "The Book of Kells"]
)
def test_these_are_names(name):
    assert is_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "   ", "A", "x" * 81, "he", "She", "THEY", "it", "narrator", "the narrator", "author", "The Story"),
        *("chapter", "book", "--", "…!"),
    ],
)
def test_these_are_no_names(name):
    assert not is_name(name)


def test_a_mention_at_its_place_is_kept_in_the_spelling_of_the_text():
    found = grounded(mention("acme corp", 17, 27, "company")).mentions
    assert found == (Mention("Acme Corp", "Organization", 17, 27),)


def test_a_mention_with_wrong_offsets_goes_to_the_first_occurrence_as_whole_words():
    assert grounded(mention("ann", 51, 54)).mentions[0].start == 6
    assert grounded(mention("Acme Corp", 3, 900)).mentions[0].start == 17


def test_a_mention_that_is_only_part_of_words_is_dropped_and_counted():
    found = grounded(mention("lan"), mention("Globex"), mention("she"), mention(" "))
    assert found.mentions == ()
    assert found.dropped == {"invalid_name": 2, "not_in_text": 2}


def test_names_in_scripts_without_spaces_are_found_inside_other_characters():
    found = grounded(mention("東京"), text="私は東京に住む。").mentions
    assert (found[0].start, found[0].end) == (2, 4)


def test_white_space_around_a_name_is_not_part_of_its_span():
    assert (found := grounded(mention("Paris", 30, 36)).mentions[0]).start == 31
    assert (found.name, found.end) == ("Paris", 36)


def test_accents_are_found_in_either_composition():
    text = unicodedata.normalize("NFD", "Le Café Müller.")
    found = grounded(mention(unicodedata.normalize("NFC", "Café Müller")), text=text).mentions
    assert text[found[0].start : found[0].end] == found[0].name


def test_each_span_keeps_its_own_mention_and_the_better_score_wins_a_shared_span():
    found = grounded(
        mention("Acme Corp", 38, 47, "Organization"),
        mention("Acme Corp", 17, 27, "Person", score=0.2),
        mention("Acme Corp", 17, 27, "Organization", score=0.9),
    )
    assert [(m.start, m.type) for m in found.mentions] == [(17, "Organization"), (38, "Organization")]


def test_scores_and_descriptions_become_storable():
    found = grounded(
        mention("Paris", score=float("nan"), description="a\x00 city\n of\ud800 light"), mention("Alice Ann", score=7.0)
    )
    assert [(m.score, m.description) for m in found.mentions] == [(1.0, ""), (0.0, "a city of light")]


def test_types_that_the_ontology_does_not_declare_become_unknown():
    assert grounded(mention("Paris", kind="Wizard/City")).mentions[0].type == UNKNOWN


def test_relations_join_kept_mentions_and_take_their_types_and_spelling():
    found = grounded(
        mention("Alice Ann"), mention("Acme Corp", kind="Organization"), relations=[relation("alice  ann", "ACME CORP")]
    )
    assert found.relations == (
        Relation(
            "Alice Ann", "Person", "Acme Corp", "Organization", "JOINED", "Alice Ann joined Acme Corp in Paris.", 0, 38
        ),
    )


def test_relations_to_what_was_not_kept_are_dropped_and_counted():
    found = grounded(
        mention("Alice Ann"),
        mention("Globex"),
        relations=[
            relation("Alice Ann", "Globex"),
            relation("he", "Alice Ann"),
            relation("Alice Ann", "alice ann"),
            relation("Alice Ann", "Paris", ""),
        ],
    )
    assert found.relations == ()
    assert found.dropped == {"not_in_text": 1, "unknown_end": 3, "self_relation": 1}


def test_an_end_means_the_entity_of_its_type_where_a_name_has_two():
    found = grounded(
        mention("Acme Corp", 17, 27, "Organization"),
        mention("Acme Corp", 38, 47, "Product"),
        mention("Paris", kind="Location"),
        relations=[
            relation("Acme Corp", "Paris", "A", source_type="product"),
            relation("Acme Corp", "Paris", "B"),
        ],
    )
    assert [(r.type, r.source_type) for r in found.relations] == [("A", "Product"), ("B", "Organization")]


def test_open_relation_types_become_upper_snake_case():
    found = grounded(
        mention("Alice Ann"),
        mention("Paris"),
        relations=[
            relation("Alice Ann", "Paris", "works for"),
            relation("Alice Ann", "Paris", "Works-For"),
            relation("Alice Ann", "Paris", " -- "),
            relation("Alice Ann", "Paris", "x" * 81),
        ],
    )
    assert [r.type for r in found.relations] == ["WORKS_FOR"]
    assert found.dropped == {"invalid_relation": 2}


def test_relation_spans_are_clamped_and_empty_ones_reach_from_end_to_end():
    found = grounded(
        mention("Alice Ann"),
        mention("Paris"),
        relations=[
            relation("Alice Ann", "Paris", "A", start=-5, end=9999),
            relation("Alice Ann", "Paris", "B", start=-1, end=-1),
            relation("Paris", "Alice Ann", "C", start=20, end=3),
        ],
    )
    spans = {r.type: (r.start, r.end) for r in found.relations}
    assert spans == {"A": (0, len(TEXT)), "B": (0, 36), "C": (0, 36)}


def test_declared_relations_are_held_to_type_pattern_and_direction():
    ontology = Ontology(
        entity_types=(EntityType(label="Person"), EntityType(label="Company")),
        relation_types=(RelationType(label="WORKS_FOR", patterns=(("Person", "Company"),)),),
    )
    found = grounded(
        mention("Alice Ann"),
        mention("Acme Corp", kind="company"),
        mention("Paris", kind="City"),
        relations=[
            relation("Alice Ann", "Acme Corp", "works for"),
            relation("Acme Corp", "Alice Ann", "WORKS_FOR"),
            relation("Alice Ann", "Paris", "WORKS_FOR"),
            relation("Alice Ann", "Acme Corp", "LIKES"),
        ],
        ontology=ontology,
    )
    assert [(r.source, r.type, r.target) for r in found.relations] == [("Alice Ann", "WORKS_FOR", "Acme Corp")]
    assert found.dropped == {"inverted_pattern": 1, "undeclared_relation": 1, "untyped_end": 1}


def test_what_the_extractor_dropped_stays_counted():
    found = ground(TEXT, Extraction(dropped={"invalid_item": 2, "not_in_text": 1}), DEFAULT_ONTOLOGY)
    assert found.dropped == {"invalid_item": 2, "not_in_text": 1}


def test_an_extractor_that_skips_a_text_is_refused():
    class Skips:
        fingerprint = "skips"

        def extract(self, texts, _ontology):
            return [Extraction() for _ in texts[1:]]

    with pytest.raises(ModelOutputInvalid, match="1 results for 2"):
        extract(["a", "b"], Skips(), DEFAULT_ONTOLOGY)


WORDS = st.sampled_from(
    ["Alice", "Ann", "acme", "CORP", "he", "\n", "  ", "é", "é", "İstanbul", "ß", "x" * 41, "-", "."]
)
NAMES = st.lists(WORDS, max_size=3).map(" ".join)
OFFSETS = st.integers(-3, 60)


@given(
    st.lists(WORDS, max_size=12).map(" ".join),
    st.lists(st.builds(Mention, NAMES, st.sampled_from(["person", "x"]), OFFSETS, OFFSETS), max_size=6),
    st.lists(
        st.builds(Relation, NAMES, st.just(""), NAMES, st.just(""), NAMES, st.just(""), OFFSETS, OFFSETS), max_size=4
    ),
)
def test_grounding_keeps_only_what_stands_in_the_text_and_repeats_itself(text, mentions, relations):
    found = ground(text, Extraction(tuple(mentions), tuple(relations)), DEFAULT_ONTOLOGY)
    names = {(m.name, m.type) for m in found.mentions}
    for m in found.mentions:
        assert normalise_name(text[m.start : m.end]) == normalise_name(m.name)
    for r in found.relations:
        assert {(r.source, r.source_type), (r.target, r.target_type)} <= names
        assert 0 <= r.start < r.end <= len(text)
    again = ground(text, found, DEFAULT_ONTOLOGY)
    assert (again.mentions, again.relations) == (found.mentions, found.relations)
