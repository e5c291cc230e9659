"""The commands of `graphmill ontology` against a client that keeps one graph's ontology in memory."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
import typer

from pipeline.errors import GraphMissing, OntologyError
from pipeline.ontology import Ontology, load_ontology, ontology_of, preset, spell_pattern
from pipeline.ontology.exports import FORMATS
from pipeline.ports import StoredOntology
from workers.cli import ontology as commands
from workers.cli.exits import ExitCode, UsageMistake

FIRMS = ontology_of(
    {
        "entity_types": ["Person", {"label": "Company", "description": "A business."}],
        "relation_types": [{"label": "WORKS_FOR", "patterns": [["Person", "Company"]]}],
    }
)


@dataclass
class Shelf:
    """A client of one graph, which is there once it keeps an ontology."""

    kept: list[Ontology] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def ontology(self, graph: str) -> Ontology | None:
        return self.kept[-1] if self.kept else None

    def ontology_versions(self, graph: str) -> list[StoredOntology]:
        if not self.kept:
            raise GraphMissing(f"graph {graph} does not exist")
        # The newest first.
        return [
            StoredOntology(number, one.fingerprint, one.model_dump_json(), 1.8e9)
            for number, one in reversed(list(enumerate(self.kept, start=1)))
        ]

    def set_ontology(self, graph: str, ontology: Ontology, *, expected: str) -> int:
        self.expected.append(expected)
        self.kept.append(ontology)
        return len(self.kept)


@pytest.fixture
def shelf(monkeypatch, tmp_path) -> Shelf:
    monkeypatch.chdir(tmp_path)
    shelf = Shelf()

    @contextmanager
    def open_system(settings, note, *, may_be_new=False) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(client=shelf, settings=settings)

    monkeypatch.setattr("workers.running.open_system", open_system)
    # It would set the logging of this process.
    monkeypatch.setattr(commands, "read_settings", lambda *, graph, data_dir: SimpleNamespace(graph=graph or "kb"))
    return shelf


def run(*arguments: str) -> ExitCode:
    program = typer.Typer(rich_markup_mode=None)
    for command in (commands.show, commands.set, commands.extend, commands.diff, commands.export):
        program.command()(command)
    return program(args=list(arguments), standalone_mode=False)


def write(name, ontology) -> str:
    with open(name, "w", encoding="utf-8") as file:  # noqa: PTH123 - in the folder of the test
        file.write(FORMATS["yaml"](ontology))
    return name


def test_the_first_ontology_is_kept_as_it_is(shelf, capsys):
    assert run("set", "preset:business", "--graph", "kb", "--json") == ExitCode.OK
    assert (shelf.kept, shelf.expected) == ([preset("business")], [""])
    assert json.loads(capsys.readouterr().out) == {
        "graph": "kb",
        "version": 1,
        "hash": preset("business").fingerprint,
        "added": None,
    }


def test_the_next_one_must_declare_all_that_the_present_one_does(shelf, capsys):
    shelf.kept.append(FIRMS)
    more = FIRMS.model_dump() | {"entity_types": [*FIRMS.model_dump()["entity_types"], {"label": "City"}]}
    assert run("set", write("more.yaml", ontology_of(more))) == ExitCode.OK
    assert shelf.expected == [FIRMS.fingerprint]
    assert shelf.kept[-1].labels == ("Person", "Company", "City", "Unknown")
    assert "+ entity type City" in capsys.readouterr().out
    with pytest.raises(UsageMistake) as raised:
        run("set", write("less.yaml", ontology_of({"entity_types": ["Person"]})))
    said = str(raised.value)
    assert said.startswith(
        "less.yaml cannot be the next ontology of graph kb, which only grows:\n  it lacks entity type"
    )
    for part in ("it lacks pattern WORKS_FOR:Person->Company", "ontology extend --graph kb", "--ontology FILE"):
        assert part in said
    assert len(shelf.kept) == 2


def test_a_description_that_is_left_out_stays(shelf, capsys):
    shelf.kept.append(FIRMS)
    bare = ontology_of({"entity_types": ["Person", "Company"], "relation_types": FIRMS.model_dump()["relation_types"]})
    assert run("set", write("bare.yaml", bare)) == ExitCode.OK
    assert shelf.kept[-1] == FIRMS
    assert "declares that already" in capsys.readouterr().out


def test_options_add_types_patterns_and_properties(shelf, capsys):
    shelf.kept.append(FIRMS)
    arguments = ["--entity", "City", "--property", "City.people:INTEGER", "--property", "Person.born:DATE"]
    pattern = spell_pattern("SEATED_IN", "Company", "City")
    assert run("extend", *arguments, "--relation", pattern, "--relation", "NEAR", "--json") == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["added"] == [
        "property Person.born:DATE",
        "entity type City",
        "property City.people:INTEGER",
        "relation type SEATED_IN",
        "pattern SEATED_IN:Company->City",
        "relation type NEAR",
    ]


def test_a_file_may_add_a_part_and_options_more_to_it(shelf):
    shelf.kept.append(FIRMS)
    with open("part.yaml", "w", encoding="utf-8") as file:  # noqa: PTH123 - in the folder of the test
        file.write("relation_types: [{label: KNOWS, patterns: [[Person, Person]]}]\nentity_types: [City]\n")
    assert run("extend", "part.yaml", "--relation", "KNOWS:Person->City") == ExitCode.OK
    assert shelf.kept[-1].relation_types[-1].patterns == (("Person", "Person"), ("Person", "City"))
    assert len(shelf.kept) == 2


def test_additions_that_cannot_be_are_refused_and_nothing_is_kept(shelf):
    with pytest.raises(UsageMistake, match="keeps no ontology"):
        run("extend", "--entity", "City")
    shelf.kept.append(FIRMS)
    with pytest.raises(UsageMistake, match="Name a file"):
        run("extend")
    with pytest.raises(OntologyError, match="'Yacht' is no declared entity label; add --entity 'Yacht'"):
        run("extend", "--relation", "R:Person->Yacht")
    with pytest.raises(OntologyError, match="'works-for' holds between declared pairs"):
        run("extend", "--relation", "works-for")
    assert shelf.kept == [FIRMS]


def test_a_comparison_says_by_its_status_whether_set_would_refuse(shelf, capsys):
    shelf.kept.append(FIRMS)
    assert run("diff", write("same.yaml", FIRMS)) == ExitCode.OK
    assert capsys.readouterr().out == "Both declare the same.\n"
    assert run("diff", "preset:business") == ExitCode.OK
    assert run("diff", "preset:science", "--json") == ExitCode.FAILED
    row = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (row["only_adds"], row["contradictions"]) == (False, [])
    assert "entity type Person" in row["removed"]


def test_it_is_shown_with_its_version(shelf, capsys):
    assert run("show") == ExitCode.OK
    assert "Graph kb keeps no ontology. `graphmill ontology set FILE --graph kb`" in capsys.readouterr().out
    shelf.kept += [preset("default"), FIRMS]
    assert run("show") == ExitCode.OK
    text = capsys.readouterr().out
    assert f"version 2 ({FIRMS.fingerprint[:12]})" in text
    assert "Person->Company" in text
    assert run("show", "--json") == ExitCode.OK
    row = json.loads(capsys.readouterr().out)
    assert ontology_of(row["ontology"]) == FIRMS
    assert row["version"] == 2


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_is_the_graphs_or_that_of_a_file(shelf, capsys, tmp_path, form):
    shelf.kept.append(FIRMS)
    assert run("export", "--format", form) == ExitCode.OK
    assert capsys.readouterr().out == FORMATS[form](FIRMS)
    assert run("export", "preset:science", "-f", form, "-o", "out.txt") == ExitCode.OK
    assert (tmp_path / "out.txt").read_text("utf-8") == FORMATS[form](preset("science"))
    assert form in (next(iter(commands.export.__annotations__["form"].__metadata__)).help)


def test_an_export_of_a_preset_is_a_file_to_begin_with(shelf, tmp_path):
    assert run("export", "preset:business", "-o", "mine.yaml") == ExitCode.OK
    assert load_ontology(tmp_path / "mine.yaml") == preset("business")


def test_an_export_that_cannot_be_is_refused(shelf):
    with pytest.raises(UsageMistake, match="There is no format 'xml'"):
        run("export", "--format", "xml")
    with pytest.raises(UsageMistake, match="keeps no ontology"):
        run("export")
    with pytest.raises(UsageMistake, match="cannot be written"):
        run("export", "preset:default", "-o", "no/such/folder.yaml")
