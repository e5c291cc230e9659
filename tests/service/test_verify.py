"""What is wrong with a graph, or between it and the ledger, is found, counted and named."""

import json
import subprocess
import sys

import pytest

from pipeline.errors import GraphMissing
from pipeline.findings import FaultCode
from workers.cli.inspect import MEANINGS
from workers.graphs import open_graph

STORY = "Ada Quill founded Northlight Press in Port Ember. {} met Bram Oster at the Tidewater Fair. Nothing else."
FILES = 3


@pytest.fixture
def folder(tmp_path):
    for i in range(FILES):
        name = "Larkspur Optics Ltd" if i % 2 else "Larkspur Optics"
        (tmp_path / f"story{i}.txt").write_text(f"{STORY.format(f'Person{chr(65 + i)} Lane')} See {name}.", "utf-8")
    return tmp_path


def change(system, graph, cypher):
    opened = open_graph(system.settings, graph)
    opened.query(cypher)
    opened.close()


def findings(system, graph):
    return {one.code: one.count for one in system.client.verify(graph).findings}


def test_a_finalized_graph_has_no_findings(system, folder, graph_name):
    (folder / "empty.txt").write_bytes(b"")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog")
    system.ingest(folder, graph_name)
    system.ingest(folder, graph_name)
    verdict = system.client.verify(graph_name)
    assert verdict.findings == ()
    assert verdict.runs == 2
    assert not verdict.at_work
    assert system.rows(graph_name, "MATCH (m:__Merged__) RETURN count(m)")[0][0] > 0, "supports resolved through merges"


FAULTS = {
    "unstamped": (
        "MATCH (d:Document {path: 'story0.txt'}) SET d.content_hash = NULL",
        {FaultCode.DOCUMENT_UNSTAMPED: 1, FaultCode.DOCUMENT_LOST: 1},
    ),
    "chunk": (
        "MATCH (:Document {path: 'story0.txt'})-[r:PART_OF]->() DELETE r",
        {FaultCode.CHUNK_WITHOUT_DOCUMENT: 1},
    ),
    "orphan": (
        "CREATE (:__Entity__ {id: 'orphan', name: 'Orphan', embedding: vecf32([1, 0])})",
        {FaultCode.ENTITY_WITHOUT_MENTION: 1},
    ),
    "orphan-pending": (
        "CREATE (:__Entity__ {id: 'orphan', name: 'Orphan'}), (:__Pending__ {id: 'orphan', kind: 'entity'})",
        {FaultCode.PENDING_LEFT: 1},
    ),
    "unstated": (
        "MATCH (a {id: 'ada quill__concept'})-[s:__SUPPORT__]->() DELETE s",
        {FaultCode.RELATION_WITHOUT_SUPPORT: 1},
    ),
    "support-lost": (
        "MATCH (a {id: 'ada quill__concept'})-[s:__SUPPORT__]->() WITH s LIMIT 1 DELETE s",
        {FaultCode.SOURCE_CHUNKS_DIFFER: 1},
    ),
    "relation-lost": (
        "MATCH ({id: 'ada quill__concept'})-[r:RELATES]->() DELETE r",
        {FaultCode.SUPPORT_WITHOUT_RELATION: 1},
    ),
    "chunks-differ": (
        "MATCH ({id: 'ada quill__concept'})-[r:RELATES]->() SET r.source_chunk_ids = ['x']",
        {FaultCode.SOURCE_CHUNKS_DIFFER: 1},
    ),
    "twice": (
        """MATCH (c:Chunk) WITH c LIMIT 1 CREATE (d:Chunk) SET d = properties(c)
           WITH c, d MATCH (o:Document)-[:PART_OF]->(c) CREATE (o)-[:PART_OF]->(d)""",
        {FaultCode.DUPLICATE_NODE: 1},
    ),
    "edge-twice": (
        "MATCH (a {id: 'ada quill__concept'})-[r:RELATES]->(b) CREATE (a)-[s:RELATES]->(b) SET s = properties(r)",
        {FaultCode.DUPLICATE_RELATION: 1},
    ),
    "circle": (
        "UNWIND [['p', 'q'], ['q', 'p'], ['s', 's']] AS r CREATE (:__Merged__ {id: r[0], into: r[1]})",
        {FaultCode.MERGED_CYCLE: 3},
    ),
    "lives": (
        "CREATE (:__Merged__ {id: 'bram oster__concept', into: 'ada quill__concept'})",
        {FaultCode.MERGED_ID_LIVES: 1, FaultCode.SUPPORT_WITHOUT_RELATION: 1, FaultCode.RELATION_WITHOUT_SUPPORT: 1},
    ),
    "pending": (
        "CREATE (:__Pending__ {id: 'x', kind: 'entity'}), (:__Pending__ {id: 'y', kind: 'chunk'})",
        {FaultCode.PENDING_LEFT: 2},
    ),
    "vector": (
        """MATCH (c:Chunk) SET c.embedding = NULL WITH count(c) AS n
           MATCH (a {id: 'ada quill__concept'})-[r:RELATES]->() SET a.embedding = NULL, r.embedding = NULL""",
        {FaultCode.VECTOR_MISSING: FILES + 2},
    ),
    "fence": ("MATCH (f:__Fence__) DELETE f", {FaultCode.FENCE_MISSING: 1}),
    "index": ("DROP INDEX ON :Chunk(id)", {FaultCode.INDEX_NOT_READY: 1}),
}


# A graph of its own for each: GRAPH.COPY stops the whole server for ever where something writes to its source, as it
# waits for the module's lock while it holds the graph's, and a writer takes them the other way round.
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_a_graph_is_found(system, folder, graph_name, fault):
    system.ingest(folder, graph_name)
    cypher, expected = FAULTS[fault]
    change(system, graph_name, cypher)
    assert findings(system, graph_name) == expected


def test_a_constraint_that_is_gone_is_found(system, folder, graph_name):
    system.ingest(folder, graph_name)
    opened = open_graph(system.settings, graph_name)
    opened._execute("GRAPH.CONSTRAINT", "DROP", graph_name, "UNIQUE", "NODE", "__Fence__", "PROPERTIES", "1", "scope")
    opened.close()
    (finding,) = system.client.verify(graph_name).findings
    assert finding.code is FaultCode.CONSTRAINT_NOT_READY
    assert finding.examples == ("__Fence__(scope): missing",)


def delete_document(system, graph, path):
    change(
        system,
        graph,
        f"MATCH (d:Document {{path: '{path}'}})-[:PART_OF]->(c) DETACH DELETE d, c",
    )


def test_a_document_that_the_ledger_counts_and_the_graph_lacks_is_lost_once(system, folder, graph_name):
    system.ingest(folder, graph_name)
    system.ingest(folder, graph_name)
    delete_document(system, graph_name, "story1.txt")
    found = {one.code: one for one in system.client.verify(graph_name).findings}
    lost = found.pop(FaultCode.DOCUMENT_LOST)
    assert (lost.count, lost.examples) == (1, ("file:story1.txt",)), "once, though two runs count it"


def test_only_the_newest_outcome_of_a_file_counts(system, folder, graph_name):
    system.ingest(folder, graph_name)
    delete_document(system, graph_name, "story1.txt")
    (folder / "story1.txt").write_bytes(b"")
    system.ingest(folder, graph_name)
    assert FaultCode.DOCUMENT_LOST not in findings(system, graph_name)


def test_a_half_written_document_is_lost_and_unstamped_unless_a_run_has_yet_to_end_it(system, folder, graph_name):
    system.ingest(folder, graph_name)
    change(system, graph_name, "MATCH (d:Document {path: 'story0.txt'}) SET d.content_hash = NULL")
    assert findings(system, graph_name) == {FaultCode.DOCUMENT_LOST: 1, FaultCode.DOCUMENT_UNSTAMPED: 1}
    run = system.client.submit([folder], folder, graph=graph_name)
    verdict = system.client.verify(graph_name)
    assert verdict.at_work
    assert verdict.findings == ()
    status = system.finish(run)
    assert (findings(system, graph_name), status.error) == ({}, "")


def test_a_run_whose_counts_are_wrong_is_found(system, folder, graph_name, redis_client_of):
    run = system.ingest(folder, graph_name).run
    redis_client_of(system).hincrby(f"gm:run:{run}", "count:written", 1)
    (finding,) = system.client.verify(graph_name).findings
    assert finding.code is FaultCode.RUN_COUNTS_DIFFER
    assert run in finding.examples[0]


def test_a_run_that_counts_internal_errors_which_no_file_has_is_found(system, folder, graph_name, redis_client_of):
    run = system.ingest(folder, graph_name).run
    redis_client_of(system).hincrby(f"gm:run:{run}", "internal_errors", 1)
    (finding,) = system.client.verify(graph_name).findings
    assert finding.code is FaultCode.RUN_COUNTS_DIFFER
    assert "1 internal errors, recorded are 0" in finding.examples[0]


def test_what_waits_for_a_finalize_is_no_other_fault(system, folder, graph_name):
    system.ingest(folder, graph_name, finalize="never")
    (finding,) = system.client.verify(graph_name).findings
    assert finding.code is FaultCode.PENDING_LEFT
    assert set(finding.examples) == {"chunk", "entity", "relation"}


def test_examples_are_few_and_all_are_counted(system, folder, graph_name):
    system.ingest(folder, graph_name)
    change(system, graph_name, "UNWIND range(1, 3000) AS i CREATE (:__Entity__ {id: 'o' + toString(i)})")
    (finding,) = system.client.verify(graph_name).findings
    assert (finding.count, len(finding.examples)) == (3000, 5)


def test_a_missing_graph_is_an_error(system, graph_name):
    with pytest.raises(GraphMissing):
        system.client.verify(graph_name)


def test_every_fault_has_a_meaning():
    assert set(MEANINGS) == set(FaultCode)


def run_command(system, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "workers.cli", *arguments],
        env=system.environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_the_commands_tell_and_their_exit_status_says_it(system, folder, graph_name):
    system.ingest(folder, graph_name)
    clean = run_command(system, "verify", "--graph", graph_name, "--json")
    assert (clean.returncode, json.loads(clean.stdout)["clean"]) == (0, True)
    told = system.client.fingerprint(graph_name).hash
    assert told in run_command(system, "fingerprint", "--graph", graph_name).stdout
    change(system, graph_name, "CREATE (:__Entity__ {id: 'orphan'})")
    faulty = run_command(system, "verify", "--graph", graph_name)
    assert faulty.returncode == 1
    assert "entity_without_mention (1)" in faulty.stdout


@pytest.fixture
def redis_client_of():
    from workers.connections import connect_redis

    return lambda system: connect_redis(system.settings)


@pytest.mark.parametrize(
    "left",
    [
        "MATCH (d:Document {path: 'story0.txt'}) SET d.writing = 'clearing'",
        "CREATE (:Document {id: 'file:story0.txt\x1fnext', writing: 'v'})",
        "CREATE (:Document {id: 'file:story0.txt\x1fpast'})",
    ],
)
def test_what_a_crash_left_of_a_replaced_document_is_named_until_its_next_touch(system, folder, graph_name, left):
    system.ingest(folder, graph_name)
    change(system, graph_name, left)
    (finding,) = system.client.verify(graph_name).findings
    assert (finding.code, finding.examples) == (FaultCode.DOCUMENT_UNSTAMPED, ("file:story0.txt",))
    (folder / "story0.txt").write_text(STORY.format("Gita Moss"), "utf-8")
    system.ingest(folder, graph_name)
    assert system.client.verify(graph_name).findings == ()
