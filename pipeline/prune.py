"""The prune report: what texts say that did not become part of the graph, and how the ontology would take it in. Pure.

A document's summary is small and of JSON values, so that it can stay with the outcome of its file:

    types             entities whose type is not declared, which became `Unknown`, by type
    relations         relations whose type or pattern is not declared, which were left out, by pattern
    unknown_entities  entities of no type at all
    unknown_ends      relations with such an entity at an end
    dropped           all that was left out, by reason
    more              how often further types and relations were found, beyond the listed ones
"""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pipeline.candidates import (
    pick_examples,
    shorten,
    spell_entity_label,
    spell_relation_label,
    tell_mention,
    tell_relation,
)
from pipeline.models import Extraction, Mention, Relation
from pipeline.ontology import UNKNOWN, Ontology, spell_pattern
from pipeline.ontology.labels import fold_label

MAX_KINDS = 10
"""Types, and patterns of relations, that a summary lists."""

type _Items = dict[tuple[str, ...], dict[str, Any]]


def summarise_pruned(extractions: Iterable[Extraction], ontology: Ontology) -> dict[str, Any]:
    """Summarise what a document's passages say beyond its ontology; empty where nothing was left out."""
    types: _Items = {}
    relations: _Items = {}
    entities, ends = _count(0, ()), _count(0, ())
    dropped: Counter[str] = Counter()
    for one in extractions:
        dropped.update({str(reason): count for reason, count in one.dropped.items()})
        typed = {(mention.start, mention.end) for mention in one.undeclared_mentions}
        for mention in one.undeclared_mentions:
            _add(types, _type_item(mention))
        untyped = [m for m in one.mentions if m.type == UNKNOWN and (m.start, m.end) not in typed]
        _add_all(entities, [tell_mention(mention) for mention in untyped])
        _add_all(ends, [tell_relation(r) for r in one.relations if UNKNOWN in (r.source_type, r.target_type)])
        for relation in one.undeclared_relations:
            item = _relation_item(relation, ontology)
            if item is None:
                _add_all(ends, [tell_relation(relation)])
            else:
                _add(relations, item)
    return _report(types, relations, entities, ends, dropped, Counter())


def merge_pruned(summaries: Iterable[Mapping[str, Any]], limit: int = MAX_KINDS) -> dict[str, Any]:
    """Add up the summaries of many documents, with at most `limit` types and patterns; empty where all are."""
    types: _Items = {}
    relations: _Items = {}
    entities, ends = _count(0, ()), _count(0, ())
    dropped: Counter[str] = Counter()
    more: Counter[str] = Counter()
    for summary in summaries:
        for found, section in ((types, "types"), (relations, "relations")):
            for item in summary.get(section, ()):
                _add(found, _read_item(item))
        for total, section in ((entities, "unknown_entities"), (ends, "unknown_ends")):
            if told := summary.get(section):
                total.update(_sum(total, told))
        dropped.update(summary.get("dropped", {}))
        more.update(summary.get("more", {}))
    return _report(types, relations, entities, ends, dropped, more, limit)


def extend_command(item: Mapping[str, Any], graph: str) -> str:
    """Spell the command by which a graph's ontology takes in a type or pattern of a report; '' where no label fits."""
    if "source" not in item:
        entities, patterns = [item["type"]] if spell_entity_label(item["type"]) else [], []
    else:
        entities = [end for end in item["undeclared"] if spell_entity_label(end)]
        patterns = [spell_pattern(item["type"], item["source"], item["target"])]
        if not spell_relation_label(item["type"]):
            return ""
    options = [*(("--entity", one) for one in entities), *(("--relation", one) for one in patterns)]
    if not options:
        return ""
    words = ["graphmill", "ontology", "extend", "--graph", graph, *(word for option in options for word in option)]
    return shlex.join(words)


def _type_item(mention: Mention) -> dict[str, Any]:
    label = spell_entity_label(mention.type) or shorten(mention.type)
    return {"type": label, **_count(1, (tell_mention(mention),))}


def _relation_item(relation: Relation, ontology: Ontology) -> dict[str, Any] | None:
    """Give the pattern of a relation; None where an end is of no known type, as no pattern can name that."""
    rel_type = ontology.resolve_relation(relation.type) or spell_relation_label(relation.type) or shorten(relation.type)
    ends = [_end(raw, ontology) for raw in (relation.source_type, relation.target_type)]
    if not all(ends):
        return None
    source, target = ends
    fits_inverted = ontology.allows(rel_type, target, source) and not ontology.allows(rel_type, source, target)
    return {
        "type": rel_type,
        "source": source,
        "target": target,
        "inverted": fits_inverted,
        "undeclared": sorted({end for end in ends if ontology.resolve_label(end) == UNKNOWN}),
        **_count(1, (tell_relation(relation),)),
    }


def _read_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Read an item of a stored summary: where that was, an empty list may have become an empty mapping."""
    return {name: list(value) if name in {"samples", "undeclared"} else value for name, value in item.items()}


def _end(raw: str, ontology: Ontology) -> str:
    declared = ontology.resolve_label(raw)
    return declared if declared != UNKNOWN else spell_entity_label(raw)


def _count(count: int, samples: Sequence[str]) -> dict[str, Any]:
    return {"count": count, "samples": list(samples)}


def _sum(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return _count(one["count"] + other["count"], pick_examples((*one["samples"], *other["samples"])))


def _add_all(total: dict[str, Any], texts: Sequence[str]) -> None:
    total.update(_sum(total, _count(len(texts), texts)))


def _add(found: _Items, item: dict[str, Any]) -> None:
    key = tuple(fold_label(item[part]) for part in ("type", "source", "target") if part in item)
    if (before := found.setdefault(key, item)) is not item:
        before.update(_sum(before, item))


def _report(
    types: _Items,
    relations: _Items,
    entities: dict[str, Any],
    ends: dict[str, Any],
    dropped: Mapping[str, int],
    more: Counter[str],
    limit: int = MAX_KINDS,
) -> dict[str, Any]:
    """Put a report together; what is empty is left out."""
    report: dict[str, Any] = {}
    more = more.copy()
    for section, found in (("types", types), ("relations", relations)):
        ranked = [found[key] for key in sorted(found, key=lambda key: (-found[key]["count"], key))]
        report[section] = ranked[:limit]
        more[section] += sum(item["count"] for item in ranked[limit:])
    for section, total in (("unknown_entities", entities), ("unknown_ends", ends)):
        report[section] = total if total["count"] else {}
    report["dropped"] = dict(sorted(dropped.items()))
    report["more"] = {section: count for section, count in sorted(more.items()) if count}
    return {section: told for section, told in report.items() if told}
