"""The hand-labelled texts of `bench/extraction.py`, with an ontology for each collection.

An ontology is made of a collection's labels: how they read as words, what each means in general, and the words that
the GraphRAG SDK's types or CoNLL-2003 use for the same. Nothing in it was chosen by looking at texts or scores.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipeline.ids import normalise_name
from pipeline.ontology import EntityType, Ontology, RelationType

type Span = tuple[int, int]
type Triple = tuple[int | str, int | str, str]
"""Two ends and a relation's label; an end is the number of a gold entity, or a name that is none."""

_SPACED = re.compile(r"[^\w-]+")
_SEPARATORS = re.compile(r"[\W_]+")

# Type of CrossNER: its label with other words for it, and what it means.
_CROSSNER = {
    "academicjournal": ("academic journal|journal", "An academic journal."),
    "album": ("album|record", "A published collection of songs."),
    "algorithm": ("algorithm|method", "An algorithm, model or method of computing."),
    "astronomicalobject": ("astronomical object|planet|star", "A planet, star, moon or other body in space."),
    "award": ("award|prize|medal", "A prize or honour."),
    "band": ("band|musical group|duo|orchestra", "A group of musicians with a name."),
    "book": ("book|novel|play|novella", "A novel, play or other written work."),
    "chemicalcompound": ("chemical compound|compound|drug", "A chemical compound."),
    "chemicalelement": ("chemical element|element", "A chemical element."),
    "conference": ("conference|workshop|event", "A conference, workshop or other meeting."),
    "country": ("country|nation", "A sovereign country."),
    "discipline": ("discipline|field|concept", "An academic field."),
    "election": ("election", "An election."),
    "enzyme": ("enzyme", "An enzyme."),
    "event": ("event|festival|war", "A named happening: a war, festival, tournament, disaster."),
    "field": ("field|concept|discipline", "A field of research."),
    "literarygenre": ("literary genre|genre|concept", "A kind of literature."),
    "location": ("location|place|geopolitical entity", "A city, region, landscape, building or other place."),
    "magazine": ("magazine|journal|newspaper", "A magazine, newspaper or journal."),
    "metrics": ("metric|measure", "A measure of quality."),
    "misc": ("miscellaneous|nationality|language|religion", "A named thing that no other type fits."),
    "musicalartist": ("musical artist|musician|singer|composer|rapper", "A musician or singer."),
    "musicalinstrument": ("musical instrument|instrument", "A musical instrument."),
    "musicgenre": ("music genre|genre|concept", "A kind of music."),
    "organisation": ("organisation|organization|company|institution", "A company, institution, agency or other group."),
    "person": ("person|people|human", "A human being, real or fictional."),
    "poem": ("poem", "A poem."),
    "politicalparty": ("political party|party", "A political party."),
    "politician": ("politician|president|minister|senator", "A politician."),
    "product": ("product|device|software|system", "Something made: a device, a system, a piece of software."),
    "programlang": ("programming language", "A language that programs are written in."),
    "protein": ("protein", "A protein."),
    "researcher": ("researcher|scientist|computer scientist", "A person who does research."),
    "scientist": ("scientist|physicist|chemist|biologist", "A scientist."),
    "song": ("song|single", "A song."),
    "task": ("task|problem", "A problem that programs solve."),
    "theory": ("theory|law", "A scientific theory or law."),
    "university": ("university|college", "A university or college."),
    "writer": ("writer|author|novelist|poet|playwright", "An author of books, poems or plays."),
}

PARENTS = {
    **dict.fromkeys(("researcher", "scientist", "writer", "musical artist", "politician"), "person"),
    **dict.fromkeys(("university", "band", "political party"), "organisation"),
    "country": "location",
}
"""What some labels of CrossNER are kinds of."""

# Type of DocRED: likewise.
_DOCRED = {
    "PER": ("person|people|human", "A human being, real or fictional."),
    "ORG": ("organization|company|institution", "A company, institution, party, team, band or other group."),
    "LOC": ("location|place|geopolitical entity", "A country, city, region, landscape, building or other place."),
    "TIME": ("time|date", "A day, month, year or period."),
    "NUM": ("number|quantity", "A number or quantity."),
    "MISC": (
        "miscellaneous|event|work of art|product|law|language|nationality|concept|technology",
        "A named thing that no other type fits: a work, event, product, law, language or nationality.",
    ),
}


@dataclass(frozen=True, slots=True)
class GoldText:
    """A labelled text: the spans of its mentions with their types, and what joins its entities.

    `entities` gives the number of the entity that a normalised name stands for.
    """

    text: str
    mentions: frozenset[tuple[Span, str]]
    entities: dict[str, int]
    relations: frozenset[Triple]


@dataclass(frozen=True, slots=True)
class Collection:
    """Labelled texts of one kind; relations are labelled where relation types are given."""

    name: str
    texts: tuple[GoldText, ...]
    entity_types: tuple[EntityType, ...]
    relation_types: tuple[RelationType, ...] = ()

    def ontology(self, *, declared: bool) -> Ontology:
        """Give the types that extractors are told; relations are open unless `declared`."""
        return Ontology(entity_types=self.entity_types, relation_types=self.relation_types if declared else ())


def read_collections(folder: Path, limit: int | None = None) -> list[Collection]:
    """Read what `crossner` and `redocred_dev` below a folder hold, the first texts of each or all.

    Raises SystemExit where there is nothing.
    """
    found = [_read_bio(path) for path in sorted((folder / "crossner").glob("*.bio"))]
    if (folder / "redocred_dev").is_dir():
        found.append(_read_docred(folder / "redocred_dev"))
    if not found:
        raise SystemExit(f"{folder} holds neither crossner/*.bio nor redocred_dev: give the folder that holds them.")
    return [replace(one, texts=one.texts[:limit]) for one in found]


def relation_label(name: str) -> str:
    """Spell a relation's name as a label."""
    return _SPACED.sub(" ", name).strip()


def fold(label: str) -> str:
    """Fold a label for comparison: `BORN_IN` is `born in`."""
    return _SEPARATORS.sub(" ", label).strip().casefold()


def _declare(code: str, words: dict[str, tuple[str, str]]) -> EntityType:
    named, description = words.get(code, (code, ""))
    label, *synonyms = named.split("|")
    return EntityType(label=label, description=description, synonyms=tuple(synonyms))


def _read_bio(path: Path) -> Collection:
    """Read a file with a token and a tag a line; each sentence is a text, its tokens joined by one blank."""
    texts = [_read_sentence(block.splitlines()) for block in path.read_text("utf-8").split("\n\n") if block.strip()]
    codes = sorted({code for text in texts for _, code in text.mentions})
    name = f"crossner {path.name.partition('.')[0]}"
    return _collect(name, texts, {code: _declare(code, _CROSSNER) for code in codes})


def _collect(name: str, texts: Iterable[GoldText], types: dict[str, EntityType], *relations: str) -> Collection:
    """Put the labels of an ontology in the place of the codes of the collection's types."""
    labelled = (
        replace(text, mentions=frozenset((span, types[code].label) for span, code in text.mentions)) for text in texts
    )
    declared = tuple(RelationType(label=relation_label(relation)) for relation in relations)
    return Collection(name, tuple(labelled), tuple(types.values()), declared)


def _read_sentence(lines: list[str]) -> GoldText:
    tokens: list[str] = []
    spans: list[tuple[Span, str]] = []
    position = 0
    for line in lines:
        token, _, tag = line.partition("\t")
        kind, _, label = tag.partition("-")
        end = position + len(token)
        if kind == "I" and spans and spans[-1][1] == label and spans[-1][0][1] == position - 1:
            spans[-1] = ((spans[-1][0][0], end), label)
        elif kind in {"B", "I"}:
            spans.append(((position, end), label))
        tokens.append(token)
        position = end + 1
    return GoldText(" ".join(tokens), frozenset(spans), {}, frozenset())


def _read_docred(folder: Path) -> Collection:
    """Read documents with the mentions of their entities and the Wikidata properties that join these."""
    names: dict[str, str] = json.loads((folder / "relations.json").read_text("utf-8"))
    with (folder / "docs.jsonl").open(encoding="utf-8") as lines:
        texts = [_read_document(json.loads(line), names) for line in lines]
    return _collect("redocred", texts, {code: _declare(code, _DOCRED) for code in _DOCRED}, *names.values())


def _read_document(row: dict[str, Any], names: dict[str, str]) -> GoldText:
    entities: dict[str, int] = {}
    for number, name in _names(row["entities"]):
        # Where two entities of a document share a name, it stands for the first.
        entities.setdefault(normalise_name(name), number)
    spans = {((start, end), one["type"]) for one in row["entities"] for start, end, _ in one["mentions"]}
    triples = {(head, tail, relation_label(names[code])) for head, tail, code, _ in row["relations"]}
    return GoldText(row["text"], frozenset(spans), entities, frozenset(triples))


def _names(entities: list[dict[str, Any]]) -> Iterator[tuple[int, str]]:
    for number, entity in enumerate(entities):
        for name in entity["names"]:
            yield number, name
