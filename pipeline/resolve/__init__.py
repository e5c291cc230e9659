"""Which entities are the same: canonical names, what equal names settle, and who is asked about the rest. Pure."""

from pipeline.resolve.merges import ExactPlan, Merge, plan_exact, rank_survivor
from pipeline.resolve.names import canonical_key

__all__ = ["ExactPlan", "Merge", "canonical_key", "plan_exact", "rank_survivor"]
