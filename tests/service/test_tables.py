"""Rows of tables are keyed entities with provenance, and follow their file, through real workers."""

import json
import subprocess
import sys

import pytest

from pipeline.tables import TableOrder
from scheduler.records import NewFile

PEOPLE = TableOrder("Person", "id", "name", {"employer": "Company", "boss": "Person"})
COMPANIES = TableOrder("Company", "nr", "title")
ROWS = [
    "id,name,employer,boss,city,age,member",
    "1,Ada Quill,12,,Port Ember,41,true",
    "2,Bram Oster,12,1,Port Ember,007,false",
    "3,Ada Quill,13,1,,38.5,",
]
ENTITIES = "MATCH (e:__Entity__) RETURN e.id, e.name ORDER BY e.id"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("\n".join(ROWS) + "\n", "utf-8")
    return path


@pytest.fixture
def take(system, graph_name):
    """Ingest a table and give the outcome of its file."""

    def run(path, order=PEOPLE, graph=graph_name):
        status = system.finish(system.client.ingest_table(path, path.parent, order, graph=graph))
        assert status.error == ""
        return system.outcomes(status.run)[path.name]

    return run


@pytest.fixture
def same_as_fresh(system, take, graph_name):
    """Compare the graph with one that never held anything but these tables as they are now."""

    def compare(*tables):
        verdict = system.client.verify(graph_name)
        assert (verdict.at_work, verdict.findings) == (False, ())
        for path, order in tables:
            take(path, order, f"{graph_name}-fresh")
        mine, fresh = (system.client.fingerprint(name) for name in (graph_name, f"{graph_name}-fresh"))
        assert mine.kinds == fresh.kinds

    return compare


def properties(system, graph, identity):
    own = "['id', 'name', 'type', 'description', 'canonical_key', 'embedding', 'embedded_hash']"
    cypher = f"MATCH (e:__Entity__ {{id: '{identity}'}}) RETURN [k IN keys(e) WHERE NOT k IN {own} | [k, e[k]]]"
    ((found,),) = system.rows(graph, cypher)
    return dict(found)


def test_rows_are_entities_with_provenance_and_equal_names_never_merge(system, people, take, graph_name, same_as_fresh):
    assert take(people) == ("written", "ok")
    assert system.rows(graph_name, ENTITIES) == [
        ["KEY:Company:12", "12"], ["KEY:Company:13", "13"],
        ["KEY:Person:1", "Ada Quill"], ["KEY:Person:2", "Bram Oster"], ["KEY:Person:3", "Ada Quill"],
    ]  # fmt: skip
    assert properties(system, graph_name, "KEY:Person:1") == {"city": "Port Ember", "age": 41, "member": True}
    assert properties(system, graph_name, "KEY:Person:2") == {"city": "Port Ember", "age": "007", "member": False}
    assert properties(system, graph_name, "KEY:Person:3") == {"age": 38.5}
    facts = system.rows(
        graph_name, "MATCH (:Person {id: 'KEY:Person:2'})-[x:RELATES]->() RETURN x.fact ORDER BY x.fact"
    )
    assert facts == [["(Bram Oster, BOSS, Ada Quill): boss: 1"], ["(Bram Oster, EMPLOYER, 12): employer: 12"]]
    passages = system.rows(
        graph_name,
        "MATCH (d:Document)-[:PART_OF]->(c)<-[:MENTIONED_IN]-(:Person {id: 'KEY:Person:3'}) RETURN d.path, c.text",
    )
    assert passages == [["people.csv", "id: 3. name: Ada Quill. employer: 13. boss: 1. age: 38.5."]]
    assert take(people) == ("unchanged", "ok")
    same_as_fresh((people, PEOPLE))


def test_a_name_in_a_text_is_that_of_the_only_row_that_is_called_so(system, people, take, graph_name):
    order = TableOrder("Concept", "id", "name")
    take(people, order)
    system.finish(system.client.ingest_text("Bram Oster met Cass Verity.", id="t", graph=graph_name))
    found = system.rows(graph_name, "MATCH (e:Concept {name: 'Bram Oster'}) RETURN e.id ORDER BY e.id")
    assert found == [["KEY:Concept:2"]]
    mentions = system.rows(graph_name, "MATCH (:Concept {id: 'KEY:Concept:2'})-[m:MENTIONED_IN]->() RETURN m.as_id")
    assert sorted(mentions) == [["KEY:Concept:2"], ["bram oster__concept"]]
    assert system.client.verify(graph_name).findings == ()


def test_a_changed_table_updates_what_changed_alone(system, people, take, graph_name, same_as_fresh):
    take(people)
    chunks = "MATCH (c:Chunk) RETURN c.text, ID(c), c.embedding"
    before = {text: rest for text, *rest in system.rows(graph_name, chunks)}
    rows = [ROWS[0], "4,Cass Verity,14,,,,", ROWS[1], "2,Bram Oster,14,1,,29,"]
    people.write_text("\n".join(rows) + "\n", "utf-8")
    assert take(people) == ("updated", "ok")
    after = {text: rest for text, *rest in system.rows(graph_name, chunks)}
    (kept,) = before.keys() & after.keys()
    assert kept.startswith("id: 1.")
    assert before[kept] == after[kept]
    assert [identity for identity, _ in system.rows(graph_name, ENTITIES)] == [
        "KEY:Company:12", "KEY:Company:14", "KEY:Person:1", "KEY:Person:2", "KEY:Person:4",
    ]  # fmt: skip
    assert properties(system, graph_name, "KEY:Person:2") == {"age": 29}
    same_as_fresh((people, PEOPLE))


def test_a_row_that_is_pointed_at_is_a_placeholder_until_its_table_comes_and_after_it_goes(
    system, people, take, tmp_path, graph_name, same_as_fresh
):
    companies = tmp_path / "companies.csv"
    companies.write_bytes('nr;title;seat\n12;"Northlight; Press";Port Ember\n14;Tidewater;\n'.encode("utf-16"))
    take(people)
    assert take(companies, COMPANIES) == ("written", "ok")
    name = "MATCH (e {id: 'KEY:Company:12'}) RETURN e.name, e.aliases, labels(e)"
    assert system.rows(graph_name, name)[0][:2] == ["Northlight; Press", None]
    assert properties(system, graph_name, "KEY:Company:12") == {"seat": "Port Ember"}
    fact = "MATCH ({id: 'KEY:Person:1'})-[x:RELATES]->() RETURN x.fact"
    assert system.rows(graph_name, fact) == [["(Ada Quill, EMPLOYER, Northlight; Press): employer: 12"]]
    same_as_fresh((companies, COMPANIES), (people, PEOPLE))
    companies.write_text("nr;title;seat\n14;Tidewater;\n", "utf-8")
    assert take(companies, COMPANIES) == ("updated", "ok")
    assert system.rows(graph_name, name)[0][:2] == ["12", None]
    assert properties(system, graph_name, "KEY:Company:12") == {}
    assert system.rows(graph_name, fact) == [["(Ada Quill, EMPLOYER, 12): employer: 12"]]
    assert system.client.verify(graph_name).findings == ()


def test_the_same_bytes_with_another_order_are_read_anew(system, people, take, graph_name, same_as_fresh):
    take(people)
    other = TableOrder("Member", "id", "name")
    assert take(people, other) == ("updated", "ok")
    assert [identity for identity, _ in system.rows(graph_name, ENTITIES)] == [f"KEY:Member:{n}" for n in (1, 2, 3)]
    assert properties(system, graph_name, "KEY:Member:2")["employer"] == 12
    same_as_fresh((people, other))


def test_what_was_a_table_is_read_as_one_again_without_being_told(system, take, tmp_path, graph_name, same_as_fresh):
    path = tmp_path / "people.txt"
    path.write_text("\n".join(ROWS), "utf-8")
    take(path)
    path.write_text("\n".join(ROWS[:3]), "utf-8")
    status = system.ingest(tmp_path, graph_name)
    assert system.outcomes(status.run) == {"people.txt": ("updated", "ok")}
    assert properties(system, graph_name, "KEY:Person:2")["age"] == "007"
    again = system.finish(
        system.client.submit_files([NewFile("people.txt", 1, order={"op": "reextract"})], tmp_path, graph=graph_name)
    )
    assert system.outcomes(again.run) == {"people.txt": ("unchanged", "ok")}
    same_as_fresh((path, PEOPLE))


def test_two_tables_of_the_same_rows_tell_of_them_together(system, people, take, tmp_path, graph_name, same_as_fresh):
    more = tmp_path / "more.csv"
    more.write_text("id,name,city,height\n1,Ada M. Quill,Aft Harbour,170\n2,Bram Oster,,\n", "utf-8")
    order = TableOrder("Person", "id", "name")
    take(people)
    take(more, order)
    told = properties(system, graph_name, "KEY:Person:1")
    assert told == {
        "city": "Port Ember", "age": 41, "member": True, "height": 170, "aliases": ["Ada Quill"],
    }  # fmt: skip
    same_as_fresh((more, order), (people, PEOPLE))
    more.unlink()
    system.finish(
        system.client.submit_files([NewFile("more.csv", 0, order={"op": "delete"})], tmp_path, graph=graph_name)
    )
    assert properties(system, graph_name, "KEY:Person:1") == {"city": "Port Ember", "age": 41, "member": True}
    assert system.client.verify(graph_name).findings == ()


def test_a_folder_with_a_table_leaves_that_as_it_is(system, people, take, graph_name):
    take(people)
    (people.parent / "a.txt").write_text("Dora Finch bought Glass.", "utf-8")
    status = system.ingest(people.parent, graph_name)
    assert system.outcomes(status.run) == {"a.txt": ("written", "ok"), "people.csv": ("skipped", "unsupported_format")}
    assert "KEY:Person:2" in {identity for identity, _ in system.rows(graph_name, ENTITIES)}
    assert system.client.verify(graph_name).findings == ()


def test_a_sync_lets_a_table_follow_its_file(system, people, take, graph_name, same_as_fresh):
    take(people)
    folder = people.parent
    (folder / "other.csv").write_text("a,b", "utf-8")

    def sync():
        run = system.client.sync(system.client.plan_sync(folder, folder, graph=graph_name, allow_empty=True))
        return system.outcomes(system.finish(run).run) if run else {}

    assert sync() == {}
    people.write_text("\n".join(ROWS[:2]), "utf-8")
    assert sync() == {"people.csv": ("updated", "ok")}
    moved = people.rename(folder / "staff.csv")
    assert sync() == {"staff.csv": ("updated", "ok")}
    moved.write_text("\n".join(ROWS), "utf-8")
    assert sync() == {"staff.csv": ("updated", "ok")}
    same_as_fresh((moved, PEOPLE))
    moved.unlink()
    assert sync() == {"staff.csv": ("removed", "ok")}
    assert system.rows(graph_name, ENTITIES) == []


def test_a_table_at_fault_fails_with_its_line_and_the_graph_keeps_the_old_one(system, people, take, graph_name):
    take(people)
    people.write_text("\n".join([*ROWS, ROWS[1]]), "utf-8")
    assert take(people) == ("failed", "table_invalid")
    (report,) = system.client.files(system.client.runs(1)[0].run)
    assert report.message.startswith("Line 5: the key '1' is that of line 2.")
    people.write_bytes(b"PK\x03\x04" + bytes(range(256)) * 9)
    assert take(people) == ("failed", "not_this_format")
    assert len(system.rows(graph_name, ENTITIES)) == 5
    people.write_text(ROWS[0], "utf-8")
    assert take(people) == ("skipped", "empty_document")
    assert system.rows(graph_name, ENTITIES) == []
    assert system.client.verify(graph_name).findings == ()


@pytest.fixture
def command(system, graph_name):
    """Run `graphmill ingest` with JSON output."""

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "workers.cli", "ingest", "--json", "--graph", graph_name, *map(str, arguments)],
            capture_output=True, check=False, timeout=120, env=system.environment,
        )  # fmt: skip
        return done.returncode, json.loads(done.stdout)

    return run


def test_the_command_ingests_a_table(system, command, people, graph_name):
    how = ("--table", "--label", "Person", "--key", "id", "--name", "name", "--ref", "employer=Company")
    status, document = command(people, *how)
    assert (status, document["files"]["written"], document["graph_counts"]["entities"]) == (0, 1, 5)
    assert system.rows(graph_name, "MATCH (d:Document) RETURN d.id, d.media_type") == [["file:people.csv", "text/csv"]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("people.csv", "--table", "--label", "Person"), "--key COLUMN"),
        (("people.csv", "--key", "id"), "add --table"),
        ((".", "--table", "--label", "Person", "--key", "id"), "is a folder"),
        (("people.csv", "people.csv", "--table", "--label", "Person", "--key", "id"), "name one PATH"),
        (("none.csv", "--table", "--label", "Person", "--key", "id"), "does not exist"),
        (("people.csv", "--table", "--label", "Per/son", "--key", "id"), "holds '/'"),
        (("people.csv", "--table", "--label", "Person", "--key", "id", "--ref", "employer"), "COLUMN=LABEL"),
        (("--table", "--label", "Person", "--key", "id", "--text", "-", "--id", "x"), "ingested alone"),
    ],
)
def test_the_command_says_what_is_wrong_with_a_table(command, people, arguments, said):
    places = [people.parent / one if one in {"people.csv", "none.csv", "."} else one for one in arguments]
    status, document = command(*places)
    assert status == 2
    assert said in document["message"]
