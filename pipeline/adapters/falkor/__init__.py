"""FalkorDB as the graph store: connection, schema, bulk writes, and finalize's side."""

from pipeline.adapters.falkor.candidates import FalkorCandidates
from pipeline.adapters.falkor.client import FalkorGraph, connect
from pipeline.adapters.falkor.curate import FalkorCurator
from pipeline.adapters.falkor.inspector import FalkorInspector
from pipeline.adapters.falkor.merges import FalkorMerges
from pipeline.adapters.falkor.ontologies import FalkorOntologies
from pipeline.adapters.falkor.read import FalkorReader
from pipeline.adapters.falkor.revise import FalkorReviser
from pipeline.adapters.falkor.schema import build_search_indexes, index_states, prepare_schema
from pipeline.adapters.falkor.write import FalkorWriter

__all__ = [
    "FalkorCandidates",
    "FalkorCurator",
    "FalkorGraph",
    "FalkorInspector",
    "FalkorMerges",
    "FalkorOntologies",
    "FalkorReader",
    "FalkorReviser",
    "FalkorWriter",
    "build_search_indexes",
    "connect",
    "index_states",
    "prepare_schema",
]
