"""What a collection of unused artifacts came to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GarbageReport:
    """What a collection of unused artifacts removed, or would remove, and what it kept."""

    removed: int
    removed_bytes: int
    kept: int
    kept_bytes: int
    drafts: int
    """Files that crashed writers left unfinished."""
    folders: int
