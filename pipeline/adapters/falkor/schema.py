"""What a graph must hold before many write to it: indexes, labels, relation types and the fence.

The engine plans a query before it takes the graph's lock. A label, relation type or attribute that
is unknown at that moment matches nothing, so that two first MERGEs of one make two elements. So all
of them are made to exist here, once, and indexes are waited for.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.adapters.falkor.fence import read_fence
from pipeline.errors import GraphMissing, GraphRejected, GraphUnavailable
from pipeline.ontology import Ontology
from pipeline.ports import Progress

# A build over a large graph blocks the graph for minutes; waiting longer than this is a fault.
_BUILD_TIMEOUT_SECONDS = 900
_POLL_SECONDS = 0.02
_INDEX_STATES = "CALL db.indexes() YIELD label, status RETURN label, status"
_CONSTRAINT_STATES = "CALL db.constraints() YIELD label, status RETURN label, status"
_OPERATIONAL = "OPERATIONAL"
_FAILED = "FAILED"

_RANGE_INDEXES = (
    ("Document", "id"),
    ("Chunk", "id"),
    ("__Entity__", "id"),
    ("__Entity__", "canonical_key"),
    ("__Pending__", "id"),
    ("__Merged__", "id"),
    ("__Merged__", "into"),
    ("__Unmerged__", "id"),
    ("__Past__", "id"),
    ("__Past__", "document_id"),
    ("__Past__", "replaced_at"),
    ("__Verdict__", "id"),
    ("__GraphRAGConfig__", "id"),
    ("__Recipe__", "id"),
    ("__Candidate__", "id"),
    ("__Ontology__", "number"),
    ("__Fence__", "scope"),
)
_UNIQUE = (("__Fence__", "scope"), ("__Ontology__", "number"))
# Every attribute that a MERGE or a condition names, so that none is new to a query's plan.
_SEED = """
CREATE (a:{labels} {{id: '', kind: '', mark: '', into: '', name: '', type: '', description: '', canonical_key: '',
                     aliases: [''], content_hash: '', source_hash: '', fingerprint: '', run_id: '', writing: '',
                     embedded_hash: '', root: '', settings: '', replaced: false, staged: false, state: '',
                     source: '', target: '', number: 0, hash: '', at: 0, __properties__: [''],
                     document_id: '', kept_version: '', moved_from: '', replaced_at: 0}})
CREATE (b)
CREATE (a)-[:PART_OF {{index: 0}}]->(b), (a)-[:NEXT_CHUNK]->(b),
       (a)-[:MENTIONED_IN {{as_id: '', name: '', description: '', spans: '', properties: ''}}]->(b),
       (a)-[:RELATES {{rel_type: '', fact: '', description: '', src_name: '', tgt_name: '', spans: '',
                      source_chunk_ids: [''], embedded_hash: ''}}]->(b),
       (a)-[:__SUPPORT__ {{rel_type: '', src: '', tgt: '', start: 0, end: 0, description: ''}}]->(b),
       (a)-[:FOUND_IN {{count: 0, examples: ['']}}]->(b)
DELETE a, b
"""
_RELATION_TYPES = frozenset({"PART_OF", "NEXT_CHUNK", "MENTIONED_IN", "RELATES", "__SUPPORT__", "FOUND_IN"})

# Recall 1.00 at a third of the build time of the engine's defaults, at 384 dimensions.
_VECTOR_OPTIONS = "{{dimension: {dimension}, similarityFunction: 'cosine', M: 16, efConstruction: 64, efRuntime: 64}}"
_VECTOR_PATTERNS = ("(e:Chunk)", "(e:__Entity__)", "()-[e:RELATES]->()")
_FULLTEXT_INDEXES = ("(e:Chunk) ON (e.text)", "(e:__Entity__) ON (e.name, e.description)")


@dataclass(frozen=True, slots=True)
class IndexState:
    """One label's or relation type's indexes: what they cover, and whether they can be relied on."""

    label: str
    attributes: tuple[str, ...]
    kinds: frozenset[str]
    status: str

    @property
    def operational(self) -> bool:
        """False while it is being built: queries then miss what is there."""
        return self.status == _OPERATIONAL


def quote_label(label: str) -> str:
    """Spell a label for a query; the engine has no escape for a backtick, so it is left out."""
    return f"`{label.replace('`', '')}`"


def prepare_schema(graph: FalkorGraph, ontology: Ontology) -> None:
    """Make everything that concurrent writers rely on, and wait until it can be relied on.

    Repeating it, or doing it in several processes at once, is harmless. Raises `GraphUnavailable`,
    `GraphRejected` where the server fails to build an index.
    """
    above = (label for declared in ontology.entity_types for label in ontology.ancestors(declared.label))
    types = tuple(dict.fromkeys((*ontology.labels, *above)))
    for label, attribute in (*_RANGE_INDEXES, *((label, "id") for label in types)):
        _create_index(graph, f"CREATE INDEX FOR (e:{quote_label(label)}) ON (e.{attribute})")
    _make_vocabulary(graph, types)
    _wait_for(graph, "index", _INDEX_STATES)
    for label, attribute in _UNIQUE:
        graph.create_unique_constraint(label, attribute)
    _wait_for(graph, "constraint", _CONSTRAINT_STATES)
    try:
        read_fence(graph)
    except GraphMissing:
        _make_fence(graph)


def build_search_indexes(graph: FalkorGraph, dimension: int, progress: Progress) -> None:
    """Build the vector and full-text indexes of retrieval, and wait for them. Repeating it changes nothing.

    Meant for after a bulk load and before its vectors: while one is alive, every change of an indexed element costs
    fifty times more, but a first vector costs no more than in a build, and comes while others are computed.
    `progress` is called while it waits. Raises `GraphRejected` where an index exists with
    another dimension.
    """
    # Words first: any new index of a label builds all of its indexes again, and vectors take ten times longer.
    for definition in _FULLTEXT_INDEXES:
        _create_index(graph, f"CREATE FULLTEXT INDEX FOR {definition}")
    _wait_for(graph, "index", _INDEX_STATES, progress)
    for pattern in _VECTOR_PATTERNS:
        options = _VECTOR_OPTIONS.format(dimension=dimension)
        _create_index(graph, f"CREATE VECTOR INDEX FOR {pattern} ON (e.embedding) OPTIONS {options}")
    _wait_for(graph, "index", _INDEX_STATES, progress)
    for (options,) in graph.ro_query("CALL db.indexes() YIELD options RETURN options"):
        stored = options.get("embedding", {}).get("dimension", dimension)
        if stored != dimension:
            raise GraphRejected(f"the graph's vector index is of dimension {stored}, the embedder's is {dimension}")


def index_states(graph: FalkorGraph) -> list[IndexState]:
    """List all indexes of the graph; raises `GraphMissing` where there is no graph."""
    rows = graph.ro_query(
        "CALL db.indexes() YIELD label, properties, types, status RETURN label, properties, types, status"
    )
    return sorted(
        (
            IndexState(label, tuple(attributes), frozenset(kind for kinds in types.values() for kind in kinds), status)
            for label, attributes, types, status in rows
        ),
        key=lambda state: state.label,
    )


def _create_index(graph: FalkorGraph, cypher: str) -> None:
    try:
        graph.query(cypher)
    except GraphRejected as error:
        if "already indexed" not in str(error):
            raise


def _make_vocabulary(graph: FalkorGraph, types: Sequence[str]) -> None:
    """Make labels, relation types and attributes exist, by a pair of nodes that lives for one query."""
    labels = {label for label, _ in _RANGE_INDEXES if label != "__Fence__"} | set(types)
    if labels <= _names(graph, "labels") and _names(graph, "relationshipTypes") >= _RELATION_TYPES:
        return
    graph.query(_SEED.format(labels=":".join(quote_label(label) for label in sorted(labels))))


def _names(graph: FalkorGraph, procedure: str) -> set[str]:
    return {name for (name,) in graph.ro_query(f"CALL db.{procedure}()")}


def _make_fence(graph: FalkorGraph) -> None:
    try:
        graph.query("MERGE (f:__Fence__ {scope: 'graph'}) ON CREATE SET f.epoch = 0")
    except GraphRejected:
        # Another process was first, and the constraint refused a second one.
        read_fence(graph)


def _wait_for(graph: FalkorGraph, kind: str, cypher: str, progress: Progress = lambda: None) -> None:
    """Poll until everything that `cypher` lists is operational: the engine tells only who asks."""
    give_up = time.monotonic() + _BUILD_TIMEOUT_SECONDS
    while waiting := _unready(graph.ro_query(cypher), kind):
        if time.monotonic() > give_up:
            raise GraphUnavailable(f"still not built after {_BUILD_TIMEOUT_SECONDS} s: {kind} on {', '.join(waiting)}")
        progress()
        time.sleep(_POLL_SECONDS)


def _unready(rows: Iterable[Sequence[str]], kind: str) -> list[str]:
    waiting = []
    for label, status in rows:
        if status == _FAILED:
            raise GraphRejected(f"the server failed to build the {kind} on {label}")
        if status != _OPERATIONAL:
            waiting.append(label)
    return waiting
