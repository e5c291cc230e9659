"""How well an extractor finds what people labelled, and how fast: micro-F1 of entities and relations, as a table.

    python bench/extraction.py FOLDER [--extractor spacy-rules|gliner|llm|hybrid] [--limit N]

FOLDER holds `crossner` (a file of BIO tags for each domain) and `redocred_dev` (`docs.jsonl`, `relations.json`). Texts
go through the product's chunking, extractor and grounding; each collection has an ontology of its labels alone
(`bench/gold.py`). Settings are the product's: GRAPHMILL_LLM__MODEL, GRAPHMILL_GLINER__MODEL and so on. An extractor
without weights, key or service gets a row that says so. With `--limit` only the first N texts of each collection are
read, as for a model that is paid.

Entities are counted by mention, over all texts of a collection:

- exact: the same span and the same type;
- family: the same span, and types of which one is the other's parent or that share one (`writer` is a `person`);
- relaxed: spans that overlap, of the same type (a labelled mention answers for one found mention, and the other way
  round);
- span: the same span, of whatever type.

A mention of type Unknown claims no type, so it counts in `span` alone. All labelled types count, for DocRED also its
times and numbers; "names" leaves these two out, labelled or found. CrossNER labels no dates: what is found of them
counts against `span`.

Relations are counted by document, each once, an end being the labelled entity that bears the found name as one of its
names (case and white space aside):

- exact: the same source, target and relation type;
- pair: the same two ends, whatever the type and the direction.

The labels are Wikidata's properties (`place of birth`). The rules of spaCy give verbs of the text (BORN_IN) instead, so
their exact figure says nothing but that; they are run with open relations, other extractors with the properties
declared.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from gold import PARENTS, Collection, GoldText, Span, Triple, fold, read_collections

from pipeline.chunk import chunk
from pipeline.errors import ModelBusy, ModelRefused, ModelUnavailable, PassageUnread
from pipeline.extract import extract_each
from pipeline.ids import normalise_name
from pipeline.models import Chunk, Extraction, LoadedText
from pipeline.ontology import UNKNOWN, Ontology
from pipeline.ports import CallingExtractor, Extractor
from workers.extractors import build_extractor
from workers.settings import Settings, load_settings

OPEN = frozenset({"spacy-rules"})
"""Extractors that name relations in their own words."""
NOT_NAMES = frozenset({"time", "number"})
BUSY_ROUNDS = 20
"""How often passages are asked for again that a service was too busy for."""
COLUMNS = ("exact", "family", "relaxed", "span", "relations exact", "relations pair")

type Typed = tuple[Span, str]


@dataclass(slots=True)
class Count:
    """How many items were found and labelled, and how many of each have their like on the other side."""

    found: int = 0
    gold: int = 0
    found_right: int = 0
    gold_right: int = 0

    def add(self, found: AbstractSet[object], gold: AbstractSet[object]) -> None:
        """Count items that are right where they are equal."""
        both = len(found & gold)
        self.add_matched(len(found), len(gold), both, both)

    def add_matched(self, found: int, gold: int, found_right: int, gold_right: int) -> None:
        """Count items that were compared elsewhere."""
        self.found += found
        self.gold += gold
        self.found_right += found_right
        self.gold_right += gold_right

    def __str__(self) -> str:
        """Spell precision, recall and F1."""
        precision = self.found_right / max(1, self.found)
        recall = self.gold_right / max(1, self.gold)
        f1 = 2 * precision * recall / (precision + recall) if self.found_right else 0.0
        return f"{precision:.3f} / {recall:.3f} / {f1:.3f}".replace("0.", ".") if self.gold else "-"


@dataclass(slots=True)
class Row:
    """The figures of one collection."""

    name: str
    counts: dict[str, Count] = field(default_factory=lambda: {column: Count() for column in COLUMNS})
    chunks: int = 0
    unread: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __str__(self) -> str:
        """Spell the row of a Markdown table."""
        speed = [f"{self.chunks:,}", *(f"{self.chunks / max(s, 1e-9):.1f}" for s in (self.seconds, self.cpu_seconds))]
        cells = [self.name, *(str(self.counts[column]) for column in COLUMNS), *(speed if self.chunks else "---")]
        unread = f" ({self.unread:,} could not be read)" if self.unread else ""
        return f"| {' | '.join(cells)}{unread} |"


def open_extractor(settings: Settings) -> Extractor | CallingExtractor:
    """Make the extractor, without limits on calls; raises `ModelUnavailable` where it cannot be had here."""
    return build_extractor(settings, settings.recipe, lambda models: models[0])


def read_chunks(
    chunks: Sequence[Chunk], extractor: Extractor | CallingExtractor, ontology: Ontology
) -> Iterator[tuple[int, Extraction]]:
    """Yield what passages say, grounded, with their positions; those that cannot be read are left out.

    Raises what stops the extractor, and `ModelBusy` where its service stays busy.
    """
    left = list(range(len(chunks)))
    for _ in range(BUSY_ROUNDS):
        busy: dict[int, ModelBusy] = {}
        for nth, found in extract_each([chunks[position].text for position in left], extractor, ontology):
            if isinstance(found, Extraction):
                yield left[nth], found
            elif isinstance(found, ModelBusy):
                busy[left[nth]] = found
            elif not isinstance(found, PassageUnread):
                raise found
        if not busy:
            return
        left = list(busy)
        time.sleep(max(1.0, *(error.retry_after for error in busy.values())))
    raise busy[left[0]]


def measure(collection: Collection, extractor: Extractor | CallingExtractor, ontology: Ontology, row: Row) -> list[Row]:
    """Read a collection and score it; gives its row, and one without times and numbers where it has these."""
    settings = load_settings()
    chunks = [chunk(LoadedText(gold.text, "text/plain"), settings.chunk) for gold in collection.texts]
    flat = [one for some in chunks for one in some]
    began, cpu_began = time.monotonic(), time.process_time()
    said = dict(read_chunks(flat, extractor, ontology))
    row.seconds, row.cpu_seconds = time.monotonic() - began, time.process_time() - cpu_began
    row.chunks, row.unread = len(flat), len(flat) - len(said)
    names = Row(f"{row.name}, names")
    position = 0
    for gold, some in zip(collection.texts, chunks, strict=True):
        found = [(one.start, said[nth]) for nth, one in enumerate(some, position) if nth in said]
        position += len(some)
        mentions = {
            ((start + mention.start, start + mention.end), mention.type)
            for start, one in found
            for mention in one.mentions
        }
        score_mentions(row, mentions, gold.mentions)
        kept = {one for one in mentions if one[1] not in NOT_NAMES}
        score_mentions(names, kept, {one for one in gold.mentions if one[1] not in NOT_NAMES})
        if collection.relation_types:
            score_relations(row, {triple for _, one in found for triple in name_ends(one, gold)}, gold.relations)
    return [row, names] if NOT_NAMES & {declared.label for declared in collection.entity_types} else [row]


def score_mentions(row: Row, found: AbstractSet[Typed], gold: AbstractSet[Typed]) -> None:
    """Count one text's mentions."""
    row.counts["span"].add({span for span, _ in found}, {span for span, _ in gold})
    typed = {one for one in found if one[1] != UNKNOWN}
    row.counts["exact"].add(typed, gold)
    row.counts["family"].add(*({(span, PARENTS.get(kind, kind)) for span, kind in some} for some in (typed, gold)))
    matched = [
        sum(any(overlaps(a, b) for b in others) for a in some) for some, others in ((typed, gold), (gold, typed))
    ]
    row.counts["relaxed"].add_matched(len(typed), len(gold), *matched)


def overlaps(one: Typed, other: Typed) -> bool:
    """Tell whether two mentions share a character and the type."""
    (start, end), kind = one
    (other_start, other_end), other_kind = other
    return kind == other_kind and start < other_end and other_start < end


def name_ends(extraction: Extraction, gold: GoldText) -> Iterator[Triple]:
    """Give what a passage relates, its ends as labelled entities where they are such."""
    for relation in extraction.relations:
        source, target = normalise_name(relation.source), normalise_name(relation.target)
        yield gold.entities.get(source, source), gold.entities.get(target, target), fold(relation.type)


def score_relations(row: Row, found: AbstractSet[Triple], gold: AbstractSet[Triple]) -> None:
    """Count one document's relations."""
    row.counts["relations exact"].add(found, {(source, target, fold(name)) for source, target, name in gold})
    found_pairs, gold_pairs = ({frozenset(one[:2]) for one in triples} for triples in (found, gold))
    row.counts["relations pair"].add(found_pairs, gold_pairs)


def main() -> None:
    """Run the bench and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--extractor", default="spacy-rules")
    parser.add_argument("--limit", type=int, default=None)
    arguments = parser.parse_args()
    collections = read_collections(arguments.folder, arguments.limit)
    print(f"| {arguments.extractor} | {' | '.join(COLUMNS)} | passages | passages/s | passages/CPU-s |")
    print(f"|{' --- |' * (len(COLUMNS) + 4)}")
    try:
        extractor = open_extractor(load_settings(extractor=arguments.extractor))
        for collection in collections:
            ontology = collection.ontology(declared=arguments.extractor not in OPEN)
            # The model is loaded before the clock runs.
            dict(read_chunks([Chunk(0, 0, 6, "Paris.")], extractor, ontology))
            for row in measure(collection, extractor, ontology, Row(collection.name)):
                print(row, flush=True)
    except (ModelUnavailable, ModelRefused, ModelBusy) as error:
        print(f"\n{arguments.extractor}: not measured here: {error}")


if __name__ == "__main__":
    main()
