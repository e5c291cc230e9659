"""Checks a draft answer against the evidence that it cites. Pure, literal, without a model.

Rules: the GraphRAG SDK's agentic tools, "Evidence and citations". Time grows linearly with the draft.
"""

from pipeline.cite.check import CitationCheck, Unsupported, check_citations
from pipeline.cite.markers import cited_numbers

__all__ = ["CitationCheck", "Unsupported", "check_citations", "cited_numbers"]
