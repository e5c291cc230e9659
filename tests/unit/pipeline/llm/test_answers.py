import json

import pytest

from pipeline.llm.answers import read_answer

ENTITY = {"name": "Ann", "type": "Person"}
GOOD = json.dumps({"entities": [ENTITY], "relationships": []})


def names(said):
    return [item.name for item in said.entities]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}",
        f"Of {{course}}, here it is: {GOOD} Anything else?",
        f"<think>{{'entities': []</think>{GOOD}",
        GOOD.replace("}]", ', "description": "two\nlines"}]'),
        json.dumps({"entities": [ENTITY], "relationships": None, "note": 1}),
        json.dumps({"entities": [ENTITY]}),
    ],
)
def test_whole_json_is_found_with_text_around_it(text):
    assert names(read_answer(text, repair=False)) == ["Ann"]


@pytest.mark.parametrize(
    "text",
    [
        GOOD[:-3],
        GOOD.replace('"', "'"),
        GOOD.replace('"type"', "type"),
        GOOD.replace("[]", "[],,"),
        f"Here: {GOOD[:-1]} and no end",
    ],
)
def test_broken_json_is_mended_where_that_is_allowed(text):
    assert names(read_answer(text, repair=True)) == ["Ann"]
    assert read_answer(text, repair=False) is None


@pytest.mark.parametrize(
    "text",
    [
        *("", "no", "[]", "{}", "null", '{"entities": null}', '{"entities": {}}', '{"relationships": []}'),
        *('{"entities": [], "relationships": 3}', '{"entities": ["Ann"]}', "[" * 100_000, '{"a":' * 50_000),
        *("{" * 90_000, "{'" * 40_000, '{"a" ' * 20_000),
    ],
)
@pytest.mark.timeout(20)
def test_what_has_not_the_asked_shape_is_no_answer_and_takes_no_time(text):
    assert read_answer(text, repair=True) is None


def test_a_bad_item_costs_no_other_and_is_counted():
    said = read_answer(
        json.dumps(
            {
                "entities": [ENTITY, {"name": None}, {"name": " "}, "Bob", {"name": "Eve", "type": "Person/Company"}],
                "relationships": [
                    {"source": "Ann", "target": "Bob", "type": "KNOWS"},
                    {"source": "Ann", "target": {"name": "Bob"}, "type": "KNOWS"},
                    {"source": "Ann", "target": "Bob", "type": ""},
                ],
            }
        ),
        repair=False,
    )
    assert names(said) == ["Ann"]
    assert [(r.source, r.target) for r in said.relations] == [("Ann", "Bob")]
    assert dict(said.dropped) == {"invalid_item": 5, "invalid_type": 1}


def test_odd_fields_beside_a_name_count_as_not_said():
    odd = {"name": 1984, "type": None, "description": ["x"], "attributes": "none", "confidence": "high", "id": 7}
    (item,) = read_answer(json.dumps({"entities": [odd]}), repair=False).entities
    assert (item.name, item.type, item.description, item.attributes, item.confidence) == ("1984", "", "", {}, 1.0)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("0.5", 0.5),
        (0.5, 0.5),
        ("0.25", 0.25),
        (95, 1.0),
        (-1, 0.0),
        ("NaN", 0.0),
        ("1e999", 1.0),
        (f"1{'0' * 400}", 1.0),
    ],
)
def test_a_confidence_is_a_number_from_0_to_1(given, read):
    text = f'{{"entities": [{{"name": "Ann", "confidence": {given}}}]}}'
    (item,) = read_answer(text, repair=False).entities
    assert item.confidence == read
