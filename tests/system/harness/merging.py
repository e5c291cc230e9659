"""A graph for tests of merges, of a few entities that every passage names in other ways."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import orjson

from pipeline import ids
from pipeline.adapters.falkor import FalkorCurator, FalkorGraph, FalkorInspector, FalkorWriter
from pipeline.adapters.falkor.merges import FalkorMerges
from pipeline.findings import KindFingerprint
from pipeline.models import Document, Extraction

Make = Callable[..., Document]

NAMES = [("Ada", "Person"), ("Acme", "Organization"), ("Acme Ltd", "Organization"), ("Acme Group", "Organization")]
NAMES += [("Initech", "Organization"), ("Ely", "Location")]
ADA, ACME, LTD, GROUP, INITECH, ELY = (ids.entity_id(*one) for one in NAMES)
TOLD: list[tuple[str, Any]] = [("age", 1), ("age", 2), ("home", "Ely"), ("home", "Bath"), ("aka", ["a"])]
TOLD += [("aka", ["a", "b"]), ("alive", True), ("weight", 0.1 + 0.2)]
NO_PLACE = -1


def proceed() -> None:
    """Stands for leases that hold."""


class Graph:
    """A graph with its sides, and the epoch of the one who works on it."""

    def __init__(self, graph: FalkorGraph, writer: FalkorWriter) -> None:
        self.store, self.writer = graph, writer
        self.curator, self.merges = FalkorCurator(graph), FalkorMerges(graph)
        self.epoch = 1

    def finalize(self) -> None:
        for kind, derive in (
            ("entity", self.curator.derive_entities),
            ("relation", self.curator.derive_relations),
            ("chunk", lambda *_: None),
        ):
            things = self.curator.pending(kind, NO_PLACE, 10_000)
            derive([one.id for one in things], self.epoch)
        for kind in ("entity", "relation", "chunk"):
            self.curator.clear_pending(self.curator.pending(kind, NO_PLACE, 10_000), self.epoch)

    def merge(self, survivor: str, duplicate: str) -> None:
        self.curator.settle()
        assert self.curator.merge(survivor, duplicate, self.epoch)

    def fingerprint(self) -> Sequence[KindFingerprint]:
        return FalkorInspector(self.store).fingerprint()

    def faults(self) -> list[str]:
        return [str(one) for one in FalkorInspector(self.store).faults() if one.code != "vector_missing"]

    def living(self) -> list[str]:
        return sorted(one for (one,) in self.store.ro_query("MATCH (e:__Entity__) RETURN e.id"))

    def count(self, label: str) -> int:
        return int(self.store.ro_query(f"MATCH (n:{label}) RETURN count(n)")[0][0])


def make_corpus(make_document: Make, chance: random.Random, documents: int = 4) -> list[Document]:
    """Make documents of passages that name some of `NAMES`, and relate pairs of those at random."""
    made = []
    for number in range(documents):
        said = []
        for place in range(3):
            named = chance.sample(NAMES, chance.randint(2, 5))
            pairs = [(a, b) for a, _ in named for b, _ in named if a != b]
            related = [(a, chance.choice(["KNOWS", "OWNS"]), b) for a, b in chance.sample(pairs, 2)]
            text = f"{number}.{place}: " + " with ".join(name for name, _ in named) + "."
            said.append((text, named, related))
        document = make_document(f"d{number}", *said)
        told = (_tell(extraction, chance) for extraction in document.extractions)
        made.append(replace(document, extractions=tuple(told)))
    return made


def _tell(extraction: Extraction, chance: random.Random) -> Extraction:
    """Let mentions tell properties, which others may contradict."""
    mentions = tuple(
        replace(one, properties=orjson.dumps(dict(chance.sample(TOLD, chance.randint(1, 4)))).decode())
        if chance.random() < 0.5
        else one
        for one in extraction.mentions
    )
    return replace(extraction, mentions=mentions)


def write_foreign(store: FalkorGraph, chance: random.Random) -> None:
    """Let others write properties on entities: equal ones, conflicting ones, lists, and floats that need all digits."""
    for name, kind in NAMES:
        values = [f"e.born = {chance.choice([1960, 1961])}", f"e.tags = ['all', '{name}']", "e.share = 0.1 + 0.2"]
        values += [f"e.note = '{name}'", "e.`odd name` = true"]
        chosen = ", ".join(chance.sample(values, chance.randint(0, 4)))
        if chosen:
            store.query(f"MATCH (e:__Entity__ {{id: $id}}) SET {chosen}", id=ids.entity_id(name, kind))


def write_chain(kb: Graph, make_document: Make) -> Sequence[KindFingerprint]:
    """Write documents, and merge Acme Ltd into Acme, then that into Acme Group; gives the fingerprint of before."""
    kb.writer.write(make_corpus(make_document, random.Random(2)), kb.epoch, proceed)
    kb.finalize()
    before = kb.fingerprint()
    kb.merge(ACME, LTD)
    kb.merge(GROUP, ACME)
    return before
