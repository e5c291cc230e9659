"""What `candidates` and `prune` show and ask for, over a client whose answers are laid out."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import DeclaredTypes, EntityType, Ontology, RelationType
from pipeline.ports import CandidateState, TypeCandidate
from pipeline.prune import summarise_pruned
from scheduler.records import Budget, FileReport
from workers.cli import candidates as commands
from workers.cli.exits import UsageMistake
from workers.cli.prune import prune

DRUG = TypeCandidate("entity:drug", "entity", "Drug", "", "", 3, 2, ("Tea", "Aspirin"), CandidateState.OPEN)
TREATS = TypeCandidate(
    "relation:treats:drug:disease", "relation", "TREATS", "Drug", "Disease", 1, 1, ("Tea TREATS flu",),
    CandidateState.REJECTED,
)  # fmt: skip
PATCH = DeclaredTypes(
    entity_types=(EntityType(label="Drug", description="A medicine.", parents=("Substance",)),),
    relation_types=(RelationType(label="TREATS", patterns=(("Drug", "Disease"),)),),
)
WORK = Ontology(
    entity_types=(EntityType(label="Person"), EntityType(label="Company")),
    relation_types=(RelationType(label="WORKS_FOR", patterns=(("Person", "Company"),)),),
)


class Client:
    """A graph with two candidates, and a run of three files."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.patch = PATCH
        self.budget: Budget | None = None

    def candidates(self, graph: str, state: CandidateState | None = CandidateState.OPEN) -> list[TypeCandidate]:
        return [one for one in (DRUG, TREATS) if state in (None, one.state)]

    def reject_candidates(self, graph: str, ids: list[str]) -> None:
        self.asked.append(("reject", graph, *ids))

    def propose(self, graph: str, ids: list[str], parents: Sequence[str], description: str) -> DeclaredTypes:
        self.asked.append(("propose", graph, *ids, tuple(parents), description))
        return self.patch

    def approve_candidates(
        self, graph: str, ids: list[str], *, parents: Sequence[str], description: str, budget: Budget | None
    ) -> tuple[Ontology, list[str]]:
        self.asked.append(("approve", graph, *ids, tuple(parents), description))
        self.budget = budget
        return WORK, []

    def status(self, run: str) -> SimpleNamespace:
        return SimpleNamespace(graph="kb")

    def files(self, run: str) -> Iterator[FileReport]:
        said = (
            Extraction(undeclared_mentions=(Mention("Tea", "drug", 0, 3),), dropped={"not_in_text": 2}),
            Extraction((Mention("Blob", "Unknown", 9, 13),), undeclared_mentions=(Mention("Cola", "DRUG", 0, 4),)),
            Extraction(undeclared_relations=(Relation("Acme", "Company", "Ada", "Person", "works for", "", 0, 4),)),
        )
        for place, one in enumerate(said):
            pruned = summarise_pruned([one], WORK)
            yield FileReport(
                place, f"{place}.md", 1, "written", details={"pruned": pruned}, document=f"file:{place}.md"
            )
        yield FileReport(3, "3.md", 1, "unchanged", document="file:3.md")


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    client = Client()

    @contextmanager
    def open_system(*_args: object, **_how: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(client=client)

    monkeypatch.setattr("workers.running.open_system", open_system)
    monkeypatch.setattr("workers.cli.orders.open_workers", open_system)
    return client


@pytest.fixture
def call(client: Client) -> Callable[..., list[str]]:
    program = typer.Typer()
    for command in (commands.list, commands.reject, commands.approve, prune):
        program.command()(command)

    def run(*arguments: str) -> list[str]:
        result = CliRunner().invoke(program, [*arguments], catch_exceptions=False, standalone_mode=False)
        return result.stdout.splitlines()

    return run


def test_candidates_are_listed_by_state(call: Callable[..., list[str]]) -> None:
    head, row = call("list", "--graph", "kb")
    assert head.split() == ["id", "what", "passages", "documents", "for", "example"]
    assert row.split() == ["entity:drug", "Drug", "3", "2", "Tea"]
    _, _, row = call("list", "--graph", "kb", "--state", "all")
    assert row.split("  ") == [TREATS.id, "TREATS:Drug->Disease", "rejected", *row.split("  ")[3:]]
    assert call("list", "--graph", "kb", "--state", "approved") == ["Graph kb has no approved candidates."]


def test_listed_as_json_each_candidate_is_a_line(call: Callable[..., list[str]]) -> None:
    (line,) = call("list", "--json")
    assert json.loads(line) == {
        "id": "entity:drug", "kind": "entity", "type": "Drug", "source": "", "target": "", "chunks": 3, "documents": 2,
        "examples": ["Tea", "Aspirin"], "state": "open",
    }  # fmt: skip


def test_a_state_that_there_is_not_is_named(call: Callable[..., list[str]]) -> None:
    with pytest.raises(UsageMistake, match="no state 'new'"):
        call("list", "--state", "new")


def test_rejecting_names_what_was_rejected(call: Callable[..., list[str]], client: Client) -> None:
    (line,) = call("reject", DRUG.id, TREATS.id, "--graph", "kb")
    assert DRUG.id in line
    assert TREATS.id in line
    assert client.asked == [("reject", "kb", DRUG.id, TREATS.id)]


def test_approving_shows_the_patch_as_the_file_that_it_could_come_from(
    call: Callable[..., list[str]], client: Client, tmp_path
) -> None:
    from pipeline.ontology import load_addition

    options = ("--parent", "Substance", "--description", "A medicine.", "--patch-only", "--graph", "kb")
    shown = call("approve", DRUG.id, TREATS.id, *options)
    file = tmp_path / "patch.yaml"
    file.write_text("\n".join(shown))
    assert load_addition(file) == PATCH
    assert client.asked == [("propose", "kb", DRUG.id, TREATS.id, ("Substance",), "A medicine.")]


def test_a_parent_is_refused_where_no_type_of_an_entity_is_named(
    call: Callable[..., list[str]], client: Client
) -> None:
    with pytest.raises(UsageMistake, match="approve entity:TYPE --parent LABEL"):
        call("approve", TREATS.id, "--parent", "Substance")
    assert client.asked == []


def test_approving_what_is_declared_says_so(call: Callable[..., list[str]], client: Client) -> None:
    client.patch = DeclaredTypes()
    assert call("approve", DRUG.id, "--graph", "kb") == ["The ontology of graph kb declares all of that already."]
    assert client.asked == [("propose", "kb", DRUG.id, (), ""), ("approve", "kb", DRUG.id, (), "")]
    (line,) = call("approve", DRUG.id, "--graph", "kb", "--json", "--max-usd", "0.5")
    assert client.budget == Budget(usd=0.5)
    assert json.loads(line) == {"graph": "kb", "patch": None, "runs": []}


def test_the_prune_report_of_a_run_adds_up_its_documents(call: Callable[..., list[str]]) -> None:
    text = "\n".join(call("prune", "R"))
    assert "Left out of 3 documents" in text
    assert "Drug: 2 (Tea; Cola)" in text
    assert "    graphmill ontology extend --graph kb --entity Drug" in text
    assert "Company WORKS_FOR Person, which is declared the other way round: 1 (Acme WORKS_FOR Ada)" in text
    assert "    graphmill ontology extend --graph kb --relation 'WORKS_FOR:Company->Person'" in text
    assert "Entities of no type at all: 1 (Blob)" in text
    assert "not_in_text" in text


def test_the_prune_report_of_a_document_is_its_own(call: Callable[..., list[str]]) -> None:
    for name in ("0.md", "file:0.md"):
        (line,) = call("prune", "R", "--document", name, "--json")
        assert json.loads(line) == {
            "run": "R",
            "graph": "kb",
            "documents": 1,
            "types": [
                {
                    "type": "Drug", "count": 1, "samples": ["Tea"],
                    "command": "graphmill ontology extend --graph kb --entity Drug",
                }
            ],
            "dropped": {"not_in_text": 2},
        }  # fmt: skip
    assert call("prune", "R", "--document", "3.md") == [
        "Nothing was left out. What was unchanged stands in the report of the run that wrote it."
    ]
    with pytest.raises(UsageMistake, match=r"no document 'x\.md'"):
        call("prune", "R", "--document", "x.md")
