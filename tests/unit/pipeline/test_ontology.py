import pytest
from pydantic import ValidationError

from pipeline.errors import OntologyError
from pipeline.ontology import DEFAULT_ONTOLOGY, UNKNOWN, EntityType, Ontology, RelationType, load_ontology

COMPANIES = Ontology(
    entity_types=(EntityType(label="Person"), EntityType(label="Work Place", synonyms=("employer",))),
    relation_types=(
        RelationType(label="WORKS_FOR", patterns=(("Person", "Work Place"),)),
        RelationType(label="KNOWS"),
    ),
)


@pytest.mark.parametrize(
    ("raw", "label"),
    [
        ("person", "Person"),
        (" PERSON ", "Person"),
        ("data_set", "Dataset"),
        ("data-set", "Dataset"),
        ("Data Set", "Dataset"),
        ("company", "Organization"),
        ("FooBarBaz", UNKNOWN),
        ("", UNKNOWN),
        ("unknown", UNKNOWN),
    ],
)
def test_a_type_word_resolves_to_the_declared_label(raw, label):
    assert DEFAULT_ONTOLOGY.resolve_label(raw) == label


def test_the_default_ontology_has_the_eleven_types_and_open_relations():
    assert DEFAULT_ONTOLOGY.labels == (
        *("Person", "Organization", "Technology", "Product", "Location", "Date", "Event", "Concept"),
        *("Law", "Dataset", "Method", UNKNOWN),
    )
    assert DEFAULT_ONTOLOGY.allows("ANY_THING", "Person", UNKNOWN)


@pytest.mark.parametrize("label", ["Person", "Ärzte Verband", "都市", "हिन्दी", "Type-2_x", "3D Model", "_X_", "__X"])
def test_labels_may_hold_letters_of_any_script_digits_spaces_hyphens_and_underscores(label):
    assert EntityType(label=label).label == label
    assert RelationType(label=label).label == label


@pytest.mark.parametrize(
    "label",
    [
        *("", " ", "_", "a|b", "a:b", "a`b", "a\nb", "a\tb", "a\u2028b", "a.b", "a'b", "a\x00b"),
        *("__X__", "____", "Chunk", "document", "UNKNOWN", "__Entity__"),
    ],
)
def test_other_labels_are_refused(label):
    with pytest.raises(ValidationError):
        EntityType(label=label)
    with pytest.raises(ValidationError):
        RelationType(label=label)


def test_a_relation_type_allows_only_its_patterns_in_their_direction():
    assert COMPANIES.allows("works for", "person", "Work Place")
    assert COMPANIES.allows("WORKS_FOR", "Person", "employer")
    assert not COMPANIES.allows("WORKS_FOR", "Work Place", "Person")
    assert not COMPANIES.allows("WORKS_FOR", "Person", UNKNOWN)
    assert not COMPANIES.allows("OWNS", "Person", "Work Place")


def test_a_relation_type_without_patterns_allows_any_pair():
    assert COMPANIES.allows("KNOWS", UNKNOWN, "Person")


def test_fingerprints_tell_ontologies_apart_and_survive_copies():
    copy = Ontology.model_validate_json(COMPANIES.model_dump_json())
    described = Ontology(entity_types=(EntityType(label="Person", description="A human."),))
    assert copy == COMPANIES
    assert copy.fingerprint == COMPANIES.fingerprint
    assert len({COMPANIES.fingerprint, DEFAULT_ONTOLOGY.fingerprint, described.fingerprint}) == 3


@pytest.mark.parametrize(
    "broken",
    [
        {"entity_types": ()},
        {"entity_types": (EntityType(label="Person"), EntityType(label="PERSON"))},
        {"entity_types": (EntityType(label="Person"), EntityType(label="Firm", synonyms=("person",)))},
        {
            "entity_types": (EntityType(label="A"),),
            "relation_types": (RelationType(label="R", patterns=(("A", "B"),)),),
        },
    ],
)
def test_an_ontology_that_contradicts_itself_is_refused(broken):
    with pytest.raises(ValidationError):
        Ontology(**broken)


def test_yaml_and_json_files_give_the_same_ontology(tmp_path):
    yaml_file, json_file = tmp_path / "o.yaml", tmp_path / "o.json"
    yaml_file.write_text(
        "entity_types:\n  - Person\n  - {label: Work Place, synonyms: [employer]}\n"
        "relation_types:\n  - {label: WORKS_FOR, patterns: [[Person, Work Place]]}\n  - KNOWS\n",
        encoding="utf-8",
    )
    json_file.write_text(
        '\ufeff{"entities": ["Person", {"label": "Work Place", "synonyms": ["employer"]}],\n'
        '\t"relations":[{"label":"WORKS_FOR","patterns":[["Person","Work Place"]]},"KNOWS"]}',
        encoding="utf-8",
    )
    assert load_ontology(yaml_file) == load_ontology(json_file) == COMPANIES


def test_words_that_yaml_takes_for_other_things_are_read_as_written(tmp_path):
    file = tmp_path / "o.yaml"
    file.write_text("entity_types: [No, 1999, on]\n", encoding="utf-8")
    assert load_ontology(file).labels == ("No", "1999", "on", UNKNOWN)


def test_all_faults_of_a_file_are_reported_at_once_with_their_lines(tmp_path):
    file = tmp_path / "o.yaml"
    file.write_text(
        "entity_types:\n"
        "  - Person\n"
        '  - label: "a|b"\n'
        "    descripton: x\n"
        "  - label: Company\n"
        "    synonyms: [firm, person]\n"
        "  - company\n"
        "relation_types:\n"
        "  - label: WORKS:FOR\n"
        "    patterns:\n"
        "      - [Person, Firm]\n"
        "      - [Person]\n"
        "      - [Person, Nobody]\n"
        "colour: red\n",
        encoding="utf-8",
    )
    with pytest.raises(OntologyError) as raised:
        load_ontology(file)
    message = str(raised.value)
    for fault in (
        "line 3: entity_types[1].label: label 'a|b'",
        "line 4: entity_types[1].descripton:",
        "line 6: entity_types[2].synonyms[1]: synonym 'person'",
        "line 7: entity_types[3].label: label 'company' repeats 'Company'",
        "line 9: relation_types[0].label: label 'WORKS:FOR'",
        "line 11: relation_types[0].patterns[0]: pattern of 'WORKS:FOR' names 'Firm'",
        "line 12: relation_types[0].patterns[1]",
        "line 13: relation_types[0].patterns[2]: pattern of 'WORKS:FOR' names 'Nobody'",
        "line 14: colour: is not known",
    ):
        assert fault in message
    assert str(tmp_path) not in message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "declares nothing"),
        ("entity_types: [Person", "line "),
        ("- Person", "is a mapping"),
        ("entity_types: Person", "must be a list"),
        ("entity_types: []", "at least one entity type"),
        ("entity_types: [&p Person, *p]", "aliases"),
        ("entity_types: [Person]\nentities: [Firm]", "line 2"),
        ("entity_types: [{label: A, label: B}]", "given twice"),
        ("[" * 100_000, "line 1: .*nest"),
        ("[" * 11, "nested too deeply"),
        ("entity_types: [Person]\n---\nentity_types: [Firm]", "line 2"),
    ],
)
def test_files_that_are_no_ontology_are_refused(tmp_path, text, says):
    file = tmp_path / "o.yml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(OntologyError, match=says):
        load_ontology(file)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(OntologyError, match="cannot be read"):
        load_ontology(tmp_path / "missing.yaml")
    file = tmp_path / "latin.yaml"
    file.write_bytes("entity_types: [Größe]".encode("latin-1"))
    with pytest.raises(OntologyError, match="not UTF-8"):
        load_ontology(file)
