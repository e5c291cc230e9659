"""What an extractor finds beyond the ontology of a graph, from the ingest to the decision, through real workers."""

import subprocess

import pytest

from pipeline.errors import GraphMissing
from pipeline.ontology import extend, ontology_of
from pipeline.ports import CandidateState
from pipeline.prune import extend_command, merge_pruned
from workers.cli.program import run as run_command
from workers.curating import CandidateUnknown
from workers.graphs import open_graph

EXTRACTOR = "naming_models:extract"
WORK = ontology_of(
    {
        "entity_types": ["Person", "Company", "Substance"],
        "relation_types": [{"label": "WORKS_FOR", "patterns": [["Person", "Company"]]}],
    }
)
LABELS = "MATCH (e:__Entity__ {name: '%s'}) RETURN labels(e)"
FACTS = "MATCH (a)-[r:RELATES]->(b) RETURN a.name, r.rel_type, b.name"
DRUG, DISEASE, TREATS = "entity:drug", "entity:disease", "relation:treats:drug:disease"
HIRED, LIKES = "relation:worksfor:company:person", "relation:likes:person:drug"
ONE, TWO = "Aspirin treats Flu. Ada joined Acme.", "Ibuprofen treats Flu. Acme hired Bram. Ada likes Aspirin."


@pytest.fixture
def write(tmp_path, graph_name):
    """Write a file of one passage; no other test has the like."""

    def write(name, text):
        (tmp_path / name).write_text(f"{text}\n\nThis is of {graph_name}.\n", "utf-8")

    return write


@pytest.fixture
def graph(system, graph_name):
    """A graph that keeps an ontology and holds nothing else."""
    system.client.set_ontology(graph_name, WORK, expected="")
    return graph_name


@pytest.fixture
def ingest(system, tmp_path, graph):
    """Ingest the folder, and leave the finalize; gives the run."""
    return lambda: system.ingest(tmp_path, graph, finalize="never").run


@pytest.fixture
def asked(system):
    """Count what the extractor has been given so far."""
    log = system.settings.data_dir / "asked.jsonl"
    return lambda: len(log.read_text("utf-8").splitlines()) if log.exists() else 0


@pytest.fixture
def listed(system, graph):
    """Name the candidates of a state, with the passages that say them."""
    return lambda state=CandidateState.OPEN: {one.id: one.chunks for one in system.client.candidates(graph, state)}


@pytest.fixture
def approve(system, graph):
    """Approve candidates, and wait for the documents that are made anew; gives their outcomes."""

    def approve(*ids, **how):
        _, runs = system.client.approve_candidates(graph, ids, **{"finalize": "never", **how})
        return {path: fate for run in runs for path, fate in system.outcomes(system.finish(run).run).items()}

    return approve


def labels(system, graph, name):
    return sorted(set(system.rows(graph, LABELS % name)[0][0]) - {"__Entity__"})


def test_approved_candidates_join_the_graph_from_the_stored_answers(
    system, write, graph, ingest, asked, listed, approve
):
    write("one.md", ONE)
    write("two.md", TWO)
    write("other.md", "Bram joined Acme.")
    ingest()
    assert listed() == {DISEASE: 2, DRUG: 2, TREATS: 2, HIRED: 1, LIKES: 1}
    assert labels(system, graph, "Aspirin") == ["Unknown"]
    told = asked()
    outcomes = approve(DRUG, DISEASE, TREATS, HIRED, LIKES, parents=("Substance",), finalize="auto")
    assert outcomes == {"one.md": ("updated", "ok"), "two.md": ("updated", "ok")}
    assert asked() == told
    assert listed() == {}
    assert labels(system, graph, "Aspirin") == ["Drug", "Substance"]
    facts = {("Aspirin", "TREATS", "Flu"), ("Ada", "WORKS_FOR", "Acme"), ("Ibuprofen", "TREATS", "Flu")}
    facts |= {("Acme", "WORKS_FOR", "Bram"), ("Ada", "LIKES", "Aspirin"), ("Bram", "WORKS_FOR", "Acme")}
    assert {tuple(row) for row in system.rows(graph, FACTS)} == facts
    assert system.client.ontology(graph).allows("TREATS", "Drug", "Disease")
    assert len(system.client.ontology_versions(graph)) == 2
    assert approve(DRUG, TREATS) == {}
    assert listed(CandidateState.APPROVED) == dict.fromkeys((DRUG, DISEASE, TREATS, HIRED, LIKES), 0)
    assert len(system.client.ontology_versions(graph)) == 2
    assert asked() == told
    assert system.client.verify(graph).findings == ()


def test_an_approved_relation_brings_the_types_at_its_ends_along(system, write, graph, ingest, listed, approve):
    write("one.md", ONE)
    ingest()
    patch = system.client.propose(graph, [TREATS], description="Helps against.")
    assert [one.label for one in patch.entity_types] == ["Drug", "Disease"]
    assert len(system.client.ontology_versions(graph)) == 1
    assert approve(TREATS) == {"one.md": ("updated", "ok")}
    assert labels(system, graph, "Flu") == ["Disease"]
    assert ["Aspirin", "TREATS", "Flu"] in system.rows(graph, FACTS)
    assert listed() == {}


def test_approving_what_the_graph_declares_by_now_still_converts_the_documents_that_say_it(
    system, write, graph, ingest, asked, listed, approve
):
    write("one.md", ONE)
    write("flu.md", "Bram treats Flu.")
    ingest()
    told = asked()
    grown = extend(WORK, system.client.propose(graph, [TREATS]))
    system.client.set_ontology(graph, grown, expected=WORK.fingerprint)
    # A relation brings the types at its ends along, also to documents that say only these.
    assert approve(TREATS) == {"one.md": ("updated", "ok"), "flu.md": ("updated", "ok")}
    assert DISEASE not in listed()
    assert labels(system, graph, "Flu") == ["Disease"]
    assert asked() == told
    assert len(system.client.ontology_versions(graph)) == 2


def test_rejected_candidates_never_come_back(system, write, ingest, graph, asked, listed):
    write("one.md", ONE)
    ingest()
    system.client.reject_candidates(graph, [DRUG, TREATS])
    write("one.md", f"{ONE} Ibuprofen treats Flu.")
    write("more.md", "Aspirin treats Flu and Ibuprofen treats Flu.")
    told = asked()
    ingest()
    assert asked() == told + 2
    assert listed() == {DISEASE: 2}
    assert listed(CandidateState.REJECTED) == {DRUG: 2, TREATS: 2}


def test_candidates_go_with_the_documents_that_say_them(system, write, tmp_path, ingest, graph, listed, approve):
    write("one.md", ONE)
    write("two.md", TWO)
    ingest()
    write("one.md", "Ada joined Acme.")
    ingest()
    assert listed() == {DISEASE: 1, DRUG: 1, TREATS: 1, HIRED: 1, LIKES: 1}
    system.finish(system.client.delete(["file:two.md"], graph=graph, finalize="never"))
    (tmp_path / "two.md").unlink()
    assert listed(None) == {}
    with pytest.raises(CandidateUnknown):
        approve(DRUG)


def test_what_is_unknown_is_refused_and_nothing_changes(system, write, graph, graph_name, ingest, listed, approve):
    write("one.md", ONE)
    ingest()
    before = listed(None)
    for decide in (system.client.reject_candidates, system.client.propose, system.client.approve_candidates):
        with pytest.raises(CandidateUnknown, match="'entity:drugs'"):
            decide(graph, [DRUG, "entity:drugs"])
        with pytest.raises(GraphMissing):
            decide(f"{graph_name}-none", [DRUG])
    assert listed() == before
    assert len(system.client.ontology_versions(graph)) == 1


def test_candidates_are_no_part_of_what_a_graph_says(system, write, tmp_path, graph, listed):
    write("two.md", f"{TWO} Tea treats Blob.")
    system.ingest(tmp_path, graph)
    assert len(listed()) == 5
    with_them = system.client.fingerprint(graph), system.client.graph_counts(graph)
    assert system.client.verify(graph).findings == ()
    answer = system.client.retrieve("What treats Flu?", graph=graph)
    assert "TREATS" not in str(answer)
    system.client.reject_candidates(graph, [DRUG])
    open_graph(system.settings, graph).query("MATCH (k:__Candidate__) DETACH DELETE k")
    assert (system.client.fingerprint(graph), system.client.graph_counts(graph)) == with_them


def test_the_commands_of_a_prune_report_work_as_a_shell_reads_them(system, write, ingest, graph, capsys, monkeypatch):
    write("two.md", f"{TWO} Tea treats Flu. Blob likes Ada.")
    run = ingest()
    (report,) = system.client.files(run)
    pruned = merge_pruned([report.details["pruned"]])
    commands = [extend_command(item, graph) for item in (*pruned["types"], *pruned["relations"])]
    assert [item["type"] for item in pruned["types"] if not extend_command(item, graph)] == ["food/drink"]
    # The command's own would set the logging of this process.
    monkeypatch.setattr(
        "workers.cli.ontology.read_settings", lambda graph, **_: system.settings.model_copy(update={"graph": graph})
    )
    for command in filter(None, commands):
        script = f'graphmill() {{ printf "%s\\n" "$@"; }}; {command}'
        words = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
        assert run_command(words) == 0, capsys.readouterr().err
    grown = system.client.ontology(graph)
    assert grown.allows("TREATS", "Drug", "Disease")
    assert grown.allows("WORKS_FOR", "Company", "Person")
    assert grown.allows("LIKES", "Person", "Drug")
