"""What passages say, held to their text: every mention stands in it, every relation joins two mentions."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache

from pipeline.errors import ModelOutputInvalid
from pipeline.ids import entity_id, normalise_name
from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import UNKNOWN, Ontology
from pipeline.ports import Extractor

MAX_NAME_CHARS = 80
MIN_NAME_CHARS = 2

# The GraphRAG SDK's rule for names: words that point at somebody, but name nobody.
_POINTERS = frozenset(
    # As one text, because a list would be sixty lines long.
    """
    i me my mine myself you your yours yourself he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves this that these those who whom whose which what
    someone somebody anyone anybody everyone everybody nobody nothing something anything everything one ones
    narrator author story chapter book
    """.split()  # noqa: SIM905
)
_ACRONYMS = frozenset(("IT", "US", "WHO"))
"""In capitals these are names."""
_ARTICLE = re.compile(r"^(?:the|a|an) ")
_UNSTORABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
# Scripts that put no space between words (or, in Korean, attach particles): Thai to Burmese, Khmer, CJK.
_UNSPACED = re.compile("[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_NOT_WORD = re.compile(r"[\W_]+")


class Drop(StrEnum):
    """Why something of an extraction was not kept, as a closed set for reports."""

    INVALID_NAME = "invalid_name"
    """A mention's name is too short, too long, a pronoun, or has no letter or digit."""
    NOT_IN_TEXT = "not_in_text"
    """A mention's name does not occur in the passage."""
    UNKNOWN_END = "unknown_end"
    """A relation's end is no mention that was kept."""
    SELF_RELATION = "self_relation"
    """A relation joins an entity to itself."""
    INVALID_RELATION = "invalid_relation"
    """A relation's type is empty or too long."""
    UNDECLARED_RELATION = "undeclared_relation"
    """The ontology declares relation types, and not this one."""
    UNDECLARED_PATTERN = "undeclared_pattern"
    """The relation type is declared, but not between these two types."""
    INVERTED_PATTERN = "inverted_pattern"
    """The relation type is declared between these types in the other direction only."""
    UNTYPED_END = "untyped_end"
    """No pattern can fit, because an end's type is Unknown."""


def extract(texts: Sequence[str], extractor: Extractor, ontology: Ontology) -> list[Extraction]:
    """Extract passages and ground what comes back; the result runs parallel to `texts`.

    Raises `ModelOutputInvalid` where the extractor does not answer each text, and its own errors.
    """
    found = extractor.extract(texts, ontology)
    if len(found) != len(texts):
        raise ModelOutputInvalid(f"the extractor gave {len(found)} results for {len(texts)} passages")
    return [ground(text, extraction, ontology) for text, extraction in zip(texts, found, strict=True)]


def ground(text: str, extraction: Extraction, ontology: Ontology) -> Extraction:
    """Keep what the passage and the ontology bear out, in the passage's order and spelling.

    Names are looked up where their offsets do not fit, types and relation types become declared
    ones. What cannot be kept is counted in `dropped`, on top of what the extractor dropped.
    """
    dropped: Counter[str] = Counter(extraction.dropped)
    mentions = _ground_mentions(text, extraction.mentions, ontology, dropped)
    relations = _ground_relations(text, extraction.relations, mentions, ontology, dropped)
    return Extraction(mentions, relations, dict(sorted(dropped.items())))


def is_name(name: str) -> bool:
    """Tell whether a name can stand for an entity (the GraphRAG SDK's rule, plus a letter or digit)."""
    if not MIN_NAME_CHARS <= len(name) <= MAX_NAME_CHARS or not any(char.isalnum() for char in name):
        return False
    return name in _ACRONYMS or _ARTICLE.sub("", normalise_name(name)) not in _POINTERS


def _ground_mentions(
    text: str, mentions: Iterable[Mention], ontology: Ontology, dropped: Counter[str]
) -> tuple[Mention, ...]:
    """Ground mentions and keep the best-scored one of each span."""
    by_span: dict[tuple[int, int], Mention] = {}
    for mention in mentions:
        name = clean(mention.name)
        if not is_name(name):
            dropped[Drop.INVALID_NAME] += 1
            continue
        span = _locate(text, name, mention.start, mention.end)
        if span is None:
            dropped[Drop.NOT_IN_TEXT] += 1
            continue
        kept = Mention(
            name=clean(text[slice(*span)]),
            type=ontology.resolve_label(mention.type),
            start=span[0],
            end=span[1],
            description=clean(mention.description),
            score=0.0 if math.isnan(mention.score) else min(max(mention.score, 0.0), 1.0),
        )
        if span not in by_span or kept.score > by_span[span].score:
            by_span[span] = kept
    return tuple(by_span[span] for span in sorted(by_span))


def _locate(text: str, name: str, start: int, end: int) -> tuple[int, int] | None:
    """Find the name at its offsets, or else its first occurrence, as whole words where the script has these."""
    if 0 <= start < end <= len(text):
        said = text[start:end]
        if normalise_name(said) == normalise_name(name):
            return start + len(said) - len(said.lstrip()), end - len(said) + len(said.rstrip())
    # Models compose accents that the text may spell with combining marks, or the other way round.
    for spelling in dict.fromkeys((name, *(unicodedata.normalize(form, name) for form in ("NFC", "NFD")))):
        pattern = r"\s+".join(re.escape(word) for word in spelling.split())
        before = "" if _UNSPACED.match(spelling[0]) else r"(?<!\w)"
        after = "" if _UNSPACED.match(spelling[-1]) else r"(?!\w)"
        if match := re.search(before + pattern + after, text, re.IGNORECASE):
            return match.span()
    return None


def _ground_relations(
    text: str,
    relations: Iterable[Relation],
    mentions: Sequence[Mention],
    ontology: Ontology,
    dropped: Counter[str],
) -> tuple[Relation, ...]:
    """Ground relations and keep the first of each (source, type, target)."""
    types_by_name: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for mention in mentions:
        types = types_by_name.setdefault(normalise_name(mention.name), [])
        if mention.type not in types:
            types.append(mention.type)
        names.setdefault(entity_id(mention.name, mention.type), mention.name)

    @cache
    def end(name: str, raw_type: str) -> tuple[str, str] | None:
        """Find the kept entity that a relation's end means: its name and its type."""
        types = types_by_name.get(normalise_name(clean(name)))
        if not types:
            return None
        wanted = ontology.resolve_label(raw_type)
        found = wanted if wanted in types else types[0]
        return names[entity_id(clean(name), found)], found

    kept: dict[tuple[str, str, str], Relation] = {}
    for relation in relations:
        source = end(relation.source, relation.source_type)
        target = end(relation.target, relation.target_type)
        if source is None or target is None:
            dropped[Drop.UNKNOWN_END] += 1
            continue
        if source == target:
            dropped[Drop.SELF_RELATION] += 1
            continue
        rel_type = _relation_type(relation.type, source[1], target[1], ontology)
        if isinstance(rel_type, Drop):
            dropped[rel_type] += 1
            continue
        start, stop = _evidence(text, relation, source[0], target[0], mentions)
        kept.setdefault(
            (entity_id(*source), rel_type, entity_id(*target)),
            Relation(
                source=source[0],
                source_type=source[1],
                target=target[0],
                target_type=target[1],
                type=rel_type,
                description=clean(relation.description) or clean(text[start:stop]),
                start=start,
                end=stop,
            ),
        )
    return tuple(sorted(kept.values(), key=lambda r: (r.start, r.end, r.source, r.type, r.target)))


def _relation_type(raw: str, source_type: str, target_type: str, ontology: Ontology) -> str | Drop:
    """Give the declared relation type, or the open one in upper snake case; or why there is none."""
    if not ontology.relation_types:
        word = _NOT_WORD.sub("_", clean(raw)).strip("_").upper()
        return word if 0 < len(word) <= MAX_NAME_CHARS else Drop.INVALID_RELATION
    declared = ontology.resolve_relation(raw)
    if declared is None:
        return Drop.UNDECLARED_RELATION
    if ontology.allows(declared, source_type, target_type):
        return declared
    if UNKNOWN in (source_type, target_type):
        return Drop.UNTYPED_END
    inverted = ontology.allows(declared, target_type, source_type)
    return Drop.INVERTED_PATTERN if inverted else Drop.UNDECLARED_PATTERN


def _evidence(text: str, relation: Relation, source: str, target: str, mentions: Sequence[Mention]) -> tuple[int, int]:
    """Give the relation's span inside the text; where it has none, from one end's first mention to the other's."""
    start, end = max(0, relation.start), min(len(text), relation.end)
    if start < end:
        return start, end
    firsts = [next(m for m in mentions if m.name == name) for name in (source, target)]
    return min(m.start for m in firsts), max(m.end for m in firsts)


def clean(raw: str) -> str:
    """Drop characters that no store takes (controls, lone surrogates) and collapse white space."""
    # What is printable holds none of these characters, and is told several times faster.
    storable = raw if raw.isprintable() else _UNSTORABLE.sub("", raw)
    return " ".join(storable.split())
