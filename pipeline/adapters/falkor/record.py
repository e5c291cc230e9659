"""What a graph remembers about itself: the models it was made with, and how much it holds."""

from pipeline.adapters.falkor.client import FalkorGraph
from pipeline.embed import same_model
from pipeline.errors import EmbedderMismatch
from pipeline.models import GraphCounts, GraphRecord

# The GraphRAG SDK's node and names; what it has written there holds.
_RECORD = """
MERGE (g:__GraphRAGConfig__ {id: 'default'})
SET g.embedding_model = coalesce(g.embedding_model, $model),
    g.embedding_dimension = coalesce(g.embedding_dimension, $dimension),
    g.artifact_store = coalesce(g.artifact_store, $store)
RETURN g.embedding_model, g.embedding_dimension, g.artifact_store
"""
_RECIPE = "MERGE (r:__Recipe__ {id: $fingerprint}) SET r.settings = $settings"
_RECIPES = "MATCH (r:__Recipe__) WHERE r.settings <> '' RETURN r.id, r.settings"
_COUNTS = (
    "MATCH (d:Document) WHERE d.content_hash <> '' RETURN count(d)",
    "MATCH (c:Chunk) RETURN count(c)",
    "MATCH (e:__Entity__) RETURN count(e)",
    "MATCH ()-[r:RELATES]->() RETURN count(r)",
    "MATCH ()-[m:MENTIONED_IN]->() RETURN count(m)",
)
_PENDING = "MATCH (p:__Pending__) RETURN p.kind, count(p)"


def record_embedder(graph: FalkorGraph, record: GraphRecord) -> GraphRecord:
    """See `GraphCurator.record_embedder`."""
    rows = graph.query(_RECORD, model=record.model_id, dimension=record.dimension, store=record.store_id)
    stored = GraphRecord(*rows[0])
    if not same_model(stored.model_id, record.model_id) or stored.dimension != record.dimension:
        raise EmbedderMismatch(
            f"graph {graph.name!r} was embedded with {stored.model_id} ({stored.dimension} dimensions), "
            f"not with {record.model_id} ({record.dimension}): set the former, or use another graph"
        )
    return stored


def record_store(graph: FalkorGraph, store_id: str) -> None:
    """See `GraphCurator.record_store`."""
    graph.query("MATCH (g:__GraphRAGConfig__ {id: 'default'}) SET g.artifact_store = $store", store=store_id)


def remember_recipe(graph: FalkorGraph, fingerprint: str, settings: str) -> None:
    """See `GraphWriter.remember_recipe`."""
    graph.query(_RECIPE, fingerprint=fingerprint, settings=settings)


def list_recipes(graph: FalkorGraph) -> dict[str, str]:
    """See `GraphInspector.recipes`."""
    return dict(graph.ro_query(_RECIPES))


def count_graph(graph: FalkorGraph) -> GraphCounts:
    """See `GraphCurator.counts`; raises `GraphMissing` where there is no graph."""
    documents, chunks, entities, relations, mentions = (int(graph.ro_query(cypher)[0][0]) for cypher in _COUNTS)
    pending = {kind: int(count) for kind, count in graph.ro_query(_PENDING)}
    return GraphCounts(documents, chunks, entities, relations, mentions, pending)
