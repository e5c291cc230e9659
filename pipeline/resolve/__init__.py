"""Which entities are the same: canonical names, and the merges that follow from them. Pure."""

from pipeline.models import Candidate
from pipeline.resolve.merges import Merge, plan_merges, rank_survivor
from pipeline.resolve.names import canonical_key

__all__ = ["Candidate", "Merge", "canonical_key", "plan_merges", "rank_survivor"]
