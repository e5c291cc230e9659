"""What a table says: its rows are entities with keys, whatever is odd is refused with line and fix."""

import random

import orjson
import pytest

from pipeline.errors import LoadError, TableInvalid
from pipeline.ids import content_hash, entity_id, key_of, keyed_entity_id
from pipeline.models import Document
from pipeline.models.judging import Named
from pipeline.resolve import plan_exact
from pipeline.tables import TableOrder, tell_table
from pipeline.tables.order import relation_type
from pipeline.tables.tell import _Passage
from pipeline.tables.values import name_properties, read_value
from pipeline.write import make_rows

PEOPLE = TableOrder("Person", "id", "name", {"employer_id": "Company"})
CSV = "id,name,employer_id,city\n7,Ada Quill,12,Port Ember\n8,Bram Oster,,\n"


def refused(text, order=PEOPLE):
    with pytest.raises(TableInvalid) as caught:
        tell_table(text, order)
    return str(caught.value)


def test_a_row_is_a_passage_that_mentions_its_entity_and_what_it_points_at():
    table = tell_table(CSV, PEOPLE)
    assert [c.text for c in table.chunks] == [
        "id: 7. name: Ada Quill. employer_id: 12. city: Port Ember.",
        "id: 8. name: Bram Oster.",
    ]
    whole = "\n".join(c.text for c in table.chunks)
    assert table.content == content_hash(whole)
    assert [whole[c.start : c.end] for c in table.chunks] == [c.text for c in table.chunks]
    first, second = table.extractions
    own, other = first.mentions
    text = table.chunks[0].text
    assert (own.name, own.type, own.key, text[own.start : own.end]) == ("Ada Quill", "Person", "7", "Ada Quill")
    assert orjson.loads(own.properties) == {"city": "Port Ember"}
    assert (other.name, other.type, other.key, other.properties) == ("12", "Company", "12", "")
    (relation,) = first.relations
    assert (relation.type, relation.source_key, relation.target_key) == ("EMPLOYER", "7", "12")
    assert relation.description == text[relation.start : relation.end] == "employer_id: 12"
    assert (len(second.mentions), second.relations, second.mentions[0].properties) == (1, (), "")


def test_rows_of_equal_names_are_two_entities_and_no_name_is_taken_for_a_key():
    table = tell_table("id,name\n1,Ada Quill\n2,Ada Quill\n", TableOrder("Person", "id", "name"))
    rows = make_rows([_document(table)], {})
    assert [row.id for row in rows.entities] == ["KEY:Person:1", "KEY:Person:2"]
    members = [Named(row.id, row.label, row.name, keyed=True) for row in rows.entities]
    plan = plan_exact([*members, Named(entity_id("Ada Quill", "Person"), "Person", "Ada Quill")])
    assert (plan.merges, plan.groups, len(plan.protected)) == ((), (), 2)
    assert entity_id("KEY:Person:1", "Person") != keyed_entity_id("1", "Person")
    assert (key_of("KEY:Person:a:b"), key_of(entity_id("KEY:Person:1", "Person"))) == ("a:b", "")


def test_a_row_that_points_at_itself_states_no_relation():
    table = tell_table("id,boss\n1,1\n2,1\n", TableOrder("Person", "id", refs={"boss": "Person"}))
    assert [len(e.relations) for e in table.extractions] == [0, 1]
    assert table.extractions[0].dropped == {"self_relation": 1}
    assert [len(e.mentions) for e in table.extractions] == [1, 2]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters_are_told_by_the_first_line(delimiter):
    text = 'id,name,note\n1,Ada,"a, b; c\td"\n'.replace(",", delimiter, 2).replace(
        "1,Ada,", f"1{delimiter}Ada{delimiter}"
    )
    table = tell_table(text, TableOrder("Person", "id", "name"))
    assert table.chunks[0].text == "id: 1. name: Ada. note: a, b; c\td."


def test_a_table_of_one_column_and_quoted_line_ends_are_read():
    assert tell_table("id\na;b\nc\n", TableOrder("Word", "id")).chunks[0].text == "id: a;b."
    table = tell_table('id,note\n1,"two\nlines"\n2,x\n', TableOrder("Word", "id"))
    assert table.chunks[0].text == "id: 1. note: two\nlines."
    assert orjson.loads(table.extractions[0].mentions[0].properties) == {"note": "two\nlines"}


def test_blank_lines_and_rows_of_empty_cells_are_passed_over():
    assert len(tell_table("\n\nid,name\n\n1,Ada\n,\n\n", TableOrder("Person", "id")).chunks) == 1


@pytest.mark.parametrize("text", ["id,name\n", "id,name", "\n \n", "id,name\n,\n"])
def test_a_table_without_rows_is_empty(text):
    with pytest.raises(LoadError) as caught:
        tell_table(text, TableOrder("Person", "id"))
    assert caught.value.code == "empty_document"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "nr,name\n1,Ada\n",
            "There is no column 'id' (--key). The first line, split at the comma, names 'nr', 'name'.",
        ),
        ("id,name\n1,Ada\n", "There is no column 'employer_id' (--ref)"),
        ("id,name,employer_id,name\n1,Ada,2,x\n", "Two columns are called 'name'"),
        ("id,name,employer_id,\n1,Ada,2,x\n", "Column 4 has no name"),
        (CSV + "9,Cass\n", "Line 4 has 2 cells, the first line 4"),
        (CSV + "9,Cass,,,x\n", "Line 4 has 5 cells"),
        (CSV + ",Cass,,\n", "Line 4 has no 'id'"),
        (CSV + '"\n",Cass,,\n', "Line 4 has no 'id'"),
        (CSV + "7,Cass,,\n", "Line 4: the key '7' is that of line 2"),
        (CSV + '9,"two\nlines",,\n 7 ,Cass,,\n', "Line 6: the key '7' is that of line 2"),
        (CSV + '9,"Cass,,\n10,Dora,,\n', "Line 4: a quote is opened and never closed"),
        (CSV + '9,"Cass" V,,\n', "Line 4: "),
        (CSV + f"9,{'x' * 200_000},,\n", "Line 4: a cell has more than 131,072 characters"),
        (CSV + f"{'9' * 300},Cass,,\n", "Line 4: its 'id' has 300 characters, a key at most 256"),
        (CSV + f"9,Cass,{'9' * 300},\n", "Line 4: its 'employer_id' has 300 characters"),
        (CSV + '"9\n9",Cass,,\n', "Line 4: its 'id' holds a line end"),
        (CSV + f"9,{'x' * 600},,\n", "Line 4: its 'name' has 600 characters"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line_and_the_fix(text, said):
    assert said in refused(text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Per/son", "id"), "holds '/'"),
        (("", "id"), "no letter or digit"),
        (("chunk", "id"), "reserved"),
        (("Person", " "), "--key COLUMN"),
        (("Person", "id", "", {"x": "__Fence__"}), "internal nodes"),
        (("Person", "id", "", {"--": "Person"}), "no letter or digit to name a relation"),
        ((" Person", "id"), "as 'Person'"),
    ],
)
def test_an_order_that_cannot_be_is_refused(arguments, said):
    with pytest.raises(TableInvalid) as caught:
        TableOrder(*arguments)
    assert said in str(caught.value)


def test_an_order_travels_as_text():
    assert TableOrder.parse(PEOPLE.spell()) == PEOPLE
    assert len({PEOPLE.fingerprint, TableOrder("Person", "id").fingerprint}) == 2


@pytest.mark.parametrize(
    ("column", "word"),
    [("employer", "EMPLOYER"), ("employer id", "EMPLOYER"), ("ID", "ID"), ("_id", "ID"), ("Reports to", "REPORTS_TO")],
)
def test_a_relation_is_named_after_its_column(column, word):
    assert relation_type(column) == word


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12", 12), ("-3", -3), ("0", 0), ("007", "007"), ("+1", "+1"), ("1_000", "1_000"), ("1,5", "1,5"),
        ("9223372036854775807", 2**63 - 1), ("9223372036854775808", "9223372036854775808"),
        ("1.50", 1.5), ("1e3", 1000.0), ("1e999", "1e999"), ("1.", "1."), ("nan", "nan"), ("Inf", "Inf"),
        ("-0.5", -0.5), ("true", True), ("FALSE", False), ("yes", "yes"), ("٣", "٣"), ("Port Ember", "Port Ember"),
    ],
)  # fmt: skip
def test_a_cell_has_the_type_that_it_is_written_in(cell, value):
    read = read_value(cell)
    assert (read, type(read)) == (value, type(value))


def test_properties_have_safe_names_and_never_those_that_the_graph_uses():
    columns = ("id", "key", "Type", "type", "birth date", "birth-date", "2020", "`x`", "--", "Größe", "aliases")
    assert name_properties(columns, ("key",)) == {
        "id": "id_", "Type": "Type", "type": "type_", "birth date": "birth_date", "birth-date": "birth_date_",
        "2020": "_2020", "`x`": "x", "--": "column", "Größe": "Größe", "aliases": "aliases_",
    }  # fmt: skip


def test_no_two_rows_are_spelled_alike():
    chance = random.Random(7)
    parts = ["a", "b", ": ", ". ", ".", ":", '"', "a: b", "b: ", "\\"]
    seen = {}
    for _ in range(20_000):
        cells = tuple("".join(chance.choices(parts, k=chance.randrange(5))).strip() for _ in range(2))
        text = _Passage(("a", "b"), cells).text
        assert seen.setdefault(text, cells) == cells


def test_what_a_row_says_does_not_hang_on_its_neighbours():
    more = tell_table(f"{CSV}9,Cass Verity,,12\n", PEOPLE)
    fewer = tell_table("id,name,employer_id,city\n9,Cass Verity,,12\n", PEOPLE)
    assert (more.chunks[2].text, more.extractions[2]) == (fewer.chunks[0].text, fewer.extractions[0])


def _document(table):
    return Document("file:t.csv", "t.csv", "c", "s", "f", chunks=table.chunks, extractions=table.extractions)
