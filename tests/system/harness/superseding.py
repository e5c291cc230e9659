"""Replaces, removes and renames documents as a reviser that keeps what was cited, and looks its passages up."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from pipeline import ids
from pipeline.adapters.falkor import FalkorGraph, FalkorReviser
from pipeline.adapters.falkor.read_exact import read_exact
from pipeline.models import Document, ExactPassage

type Said = tuple[str, Sequence[tuple[str, str]], Sequence[tuple[str, str, str]]]

ADA, ACME, BELL = ("Ada", "Person"), ("Acme", "Organization"), ("Bell", "Organization")
FOUNDED = ("Ada founded Acme.", [ADA, ACME], [("Ada", "FOUNDED", "Acme")])
LEFT = ("Ada left Acme for Bell.", [ADA, ACME, BELL], [("Ada", "JOINED", "Bell")])
QUIET = ("Nothing is said here.", [], [])
SOLD = ("Bell was sold.", [BELL], [])
OLD, NEW = (FOUNDED, LEFT, QUIET), (QUIET, SOLD)
"""Passages of two versions; both hold one of them."""


def proceed() -> None:
    """Stands for leases that hold."""


def update(reviser: FalkorReviser, document: Document) -> None:
    reviser.stage([document], 1, proceed)
    reviser.swap(document, 1)
    reviser.clear([document.id], 1, proceed)


def remove(reviser: FalkorReviser, identity: str) -> None:
    reviser.clear([identity], 1, proceed)
    reviser.retire(identity, 1)
    reviser.clear([identity], 1, proceed)


def rename(reviser: FalkorReviser, document: Document, name: str) -> Document:
    """Rename a document, or end what an attempt before this one has begun."""
    to = dataclasses.replace(document, id=ids.file_document_id(name), path=name)
    reviser.rename(document.id, to, 1)
    reviser.clear([to.id], 1, proceed)
    return to


def named(said: Said, document: str = "file:a") -> str:
    return ids.chunk_id(document, said[0], 0)


def look_up(graph: FalkorGraph, *said: Said, document: str = "file:a") -> list[ExactPassage]:
    return read_exact(graph, [named(one, document) for one in said])


def statuses(graph: FalkorGraph, *said: Said, document: str = "file:a") -> list[str]:
    return [one.status for one in look_up(graph, *said, document=document)]


def count_kept(graph: FalkorGraph) -> int:
    return int(graph.ro_query("MATCH (p:__Past__) RETURN count(p)")[0][0])


def each_crash(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> Iterator[int]:
    """Let an act stop before each of the queries that change something, one after the other."""
    step = done = 0

    def crash(self: FalkorGraph, *args: Any, **parameters: Any) -> Any:
        nonlocal done
        if done == step:
            raise InterruptedError
        done += 1
        return original(self, *args, **parameters)

    original = FalkorGraph.query
    while True:
        done = 0
        monkeypatch.setattr(FalkorGraph, "query", crash)
        try:
            act()
        except InterruptedError:
            monkeypatch.undo()
            yield step
        else:
            monkeypatch.undo()
            return
        step += 1
