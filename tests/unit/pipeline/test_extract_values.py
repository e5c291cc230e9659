import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.extract import ground
from pipeline.extract.values import coerce, coerce_properties, read_properties
from pipeline.models import Extraction, Mention
from pipeline.ontology import EntityType, Ontology, PropertyType, ValueType

HUGE = 10**400
"""No float is so large."""


def declare(*properties):
    return tuple(PropertyType(name=name, type=kind) for name, kind in properties)


ONTOLOGY = Ontology(
    entity_types=(
        EntityType(
            label="Person",
            properties=declare(("age", "INTEGER"), ("born", "DATE"), ("tags", "LIST"), ("Motto", "STRING")),
        ),
        EntityType(label="Scientist", parents=("Person",), properties=declare(("field", "STRING"))),
        EntityType(label="Place"),
    )
)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        *(("56", 56), (56.7, 56), ("abc", None), (56, 56), (" 56 ", 56), ("+5", 5), ("-56.9", -56), ("1e3", 1_000)),
        *((True, None), (False, None), (None, None), ([1], None), ({"a": 1}, None), ("", None), ("5 years", None)),
        *((math.nan, None), (math.inf, None), ("NaN", None), ("inf", None), ("1_000", None), ("1,000", None)),
        *((2**63 - 1, 2**63 - 1), (2**63, None), (-(2**63), -(2**63)), (-(2**63) - 1, None), (HUGE, None)),
        *((str(2**63 - 1), 2**63 - 1), (str(2**63), None), ("9" * 5_000, None), ("1e400", None), (1e19, None)),
        *(("٥٦", 56), ("５６", 56), ("५६", 56), ("²", None), ("½", None), ("Ⅳ", None)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_integers(raw, value):
    assert coerce(raw, ValueType.INTEGER) == value
    assert not isinstance(coerce(raw, ValueType.INTEGER), bool)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        *((1.5, 1.5), (2, 2.0), ("1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("-1e-3", -0.001), ("٣.٥", 3.5), (" 7 ", 7.0)),
        *((True, None), (None, None), ("abc", None), ("1_0", None), ("0x10", None), ([1.0], None), ({}, None)),
        *((math.nan, None), (-math.inf, None), ("infinity", None), ("1e400", None), (HUGE, None), ("9" * 5_000, None)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_floats(raw, value):
    found = coerce(raw, ValueType.FLOAT)
    assert found == value
    assert isinstance(found, float | None)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        *(
            ("yes", True),
            ("False", False),
            ("maybe", None),
            (True, True),
            (False, False),
            (" TRUE ", True),
            ("no", False),
        ),
        *(
            (1, True),
            (0, False),
            ("1", True),
            ("0", False),
            (2, None),
            (1.0, None),
            (None, None),
            ([], None),
            (HUGE, None),
        ),
    ],
    ids=lambda value: str(value)[:20],
)
def test_booleans(raw, value):
    assert coerce(raw, ValueType.BOOLEAN) is value


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        *(("1867-11-07T12:00:00", "1867-11-07"), ("1867-11-07", "1867-11-07"), (" 1867-11-07 ", "1867-11-07")),
        *(("2001-02-03T23:59:59+14:00", "2001-02-03"), ("2001-02-03T00:00:00Z", "2001-02-03")),
        *(("2001-02-03 04:05", "2001-02-03"), ("20010203", "2001-02-03"), ("٢٠٠١-٠٢-٠٣", "2001-02-03")),
        *(("2001-02-30", None), ("2001", None), ("2001-02", None), ("3 February 2001", None), ("0000-01-01", None)),
        *((20010203, None), (True, None), (None, None), ("", None), ("\ud800", None), ("2001-02-03\ud800", None)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_dates_are_days_as_they_are_written(raw, value):
    assert coerce(raw, ValueType.DATE) == value


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        *(("  ", None), (42, "42"), ("a\n b", "a b"), ("\x00", None), ("a\ud800b", "ab"), (1.5, "1.5"), (True, "true")),
        *((None, None), (["a"], None), ({"a": 1}, None), (math.nan, None), (math.inf, None), (HUGE, None)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_strings(raw, value):
    assert coerce(raw, ValueType.STRING) == value


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        *(("solo", ["solo"]), ({"a": 1}, None), (["a", 1, 2.5, True], ["a", 1, 2.5, True]), (42, [42]), (None, None)),
        *(([], None), (["", None, {}, ["x"], math.nan, HUGE], None), ([" a ", None], ["a"]), ("", None)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_lists_hold_plain_values(raw, value):
    assert coerce(raw, ValueType.LIST) == value


@pytest.mark.parametrize("kind", ValueType)
def test_a_number_that_python_refuses_to_spell_is_no_value(kind):
    assert coerce(10**5_000, kind) is None


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates().map(str)
JSON = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


@settings(max_examples=100)
@given(JSON, st.sampled_from(ValueType))
def test_a_value_that_fits_stays_as_it_is(raw, kind):
    value = coerce(raw, kind)
    assert coerce(value, kind) == value
    assert json.loads(json.dumps(value, allow_nan=False)) == value


def test_declared_properties_are_kept_in_order_and_others_are_not():
    told = json.dumps({"tags": "x", "AGE": "7", "shoe": 9, "motto": " ", "born": "soon"})
    assert coerce_properties(told, "Person", ONTOLOGY) == '{"age":7,"tags":["x"]}'
    assert coerce_properties(told, "Place", ONTOLOGY) == ""
    assert coerce_properties(told, "Unknown", ONTOLOGY) == ""


def test_inherited_properties_count():
    told = json.dumps({"age": 7, "field": "physics", "MOTTO": "why"})
    assert coerce_properties(told, "Scientist", ONTOLOGY) == '{"Motto":"why","age":7,"field":"physics"}'


@pytest.mark.parametrize("told", ["", "[]", "3", "{", "null", "[" * 100_000, '{"age": NaN}', '{"age": 1e999}'])
def test_what_are_no_properties_are_none(told):
    assert coerce_properties(told, "Person", ONTOLOGY) == ""
    assert isinstance(read_properties(told), dict)


def test_grounding_keeps_properties_of_the_type_that_a_mention_gets():
    told = '{"age": "56", "shoe": 9}'
    mentions = [Mention(name, kind, -1, -1, properties=told) for name, kind in [("Ann", "person"), ("Rome", "Wizard")]]
    found = ground("Ann saw Rome.", Extraction(tuple(mentions)), ONTOLOGY)
    assert [m.properties for m in found.mentions] == ['{"age":56}', ""]


def test_mentions_of_one_place_and_type_add_to_each_other():
    mentions = (
        Mention("Ann", "Person", -1, -1, "Old.", 0.5, properties='{"age": 7, "tags": ["x"]}'),
        Mention("Ann", "person", -1, -1, "She", 0.9, properties='{"age": 8, "motto": "why"}'),
    )
    for given_so in (mentions, mentions[::-1]):
        (found,) = ground("Ann.", Extraction(given_so), ONTOLOGY).mentions
        assert (found.score, found.description) == (0.9, "Old.")
        assert found.properties == '{"Motto":"why","age":8,"tags":["x"]}'
