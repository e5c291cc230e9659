"""From a question to evidence: passages by meaning, words, facts, names and links; facts; entities.

Weights and depths were chosen on one half of a public set of two-hop questions and hold on the other
(`bench/retrieval.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.embed import embed_distinct, same_model
from pipeline.errors import EmbedderMismatch, QueryInvalid
from pipeline.models import Evidence, FoundFact, Retrieval
from pipeline.ports import Embedder, GraphReader, Vectors
from pipeline.retrieve.question import MAX_PASSAGES, Question, longest_phrases, read_question
from pipeline.retrieve.rank import Ranking, fuse, rank_matches

_FACTS = 12
_SURE_FACTS = 3
"""Facts that are given however little they resemble the question; the GraphRAG SDK's rule, as is the next."""
_LEAST_SIMILARITY = 0.25
_ENTITIES = 10

_DEPTH = 50
"""Passages that each broad search adds to the fusion."""
_CANDIDATES = 200
"""Passages with the question's words that are ranked."""
_NARROW_DEPTH = 10
"""Passages that names and links add: beyond these they are guesses."""
_STATING_FACTS = 5
"""Facts whose passages are added; those of weaker ones crowd out better finds."""
_SEEDS = 5
"""First passages whose links are followed."""
_FACT_WEIGHT = 0.5
_LINK_WEIGHT = 1.5


@dataclass(frozen=True, slots=True)
class Found:
    """What the searches find for a question, before anything is loaded; rankings by path."""

    question: Question
    vector: Vectors
    rankings: tuple[Ranking, ...]
    facts: tuple[FoundFact, ...]
    named: tuple[str, ...]


def retrieve(question: str, reader: GraphReader, embedder: Embedder, k: int = 15) -> Retrieval:
    """Find evidence for a question: up to k passages best first, then facts, then entities.

    Scores are cosines to the question. `incomplete` says what could not be searched.

    Raises:
        QueryInvalid: The question is empty or too long, or k is not 1 to `MAX_PASSAGES`.
        EmbedderMismatch: The graph was built with another embedder.
        GraphMissing, GraphUnavailable: As the reader does; never "nothing found".
    """
    if not 1 <= k <= MAX_PASSAGES:
        raise QueryInvalid(f"ask for 1 to {MAX_PASSAGES} passages, not {k}")
    asked = read_question(question)
    gaps = reader.gaps()
    _check_embedder(reader, embedder)
    found = find_passages(asked, reader, embedder)
    evidence = [
        *_load_passages(reader, found, k),
        *(replace(fact.evidence, paths=("facts",)) for fact in found.facts),
        *_find_entities(reader, found),
    ]
    # Asked again: an index may have begun to be built anew in between.
    return Retrieval(tuple(evidence), tuple(dict.fromkeys([*gaps, *reader.gaps()])))


def find_passages(question: Question, reader: GraphReader, embedder: Embedder) -> Found:
    """Run the searches: those of the question itself, then the links of the best passages."""
    vector = embed_distinct(embedder, [question.text])[0]
    keys = dict.fromkeys(phrase.key for phrase in question.phrases)
    by_key = reader.entities_named(list(keys))
    phrases = longest_phrases(question.phrases, by_key.keys())
    named = list(dict.fromkeys(identity for phrase in phrases for identity in by_key[phrase.key]))
    facts = _relevant(reader.nearest_facts(vector, _FACTS))
    stating = dict.fromkeys(passage for fact in facts[:_STATING_FACTS] for passage in fact.passage_ids)
    rankings = [
        Ranking("meaning", 1.0, reader.nearest_passages(vector, _DEPTH)),
        Ranking("words", 1.0, rank_matches(reader.match_passages(question.words, _CANDIDATES))[:_DEPTH]),
        Ranking("names", 1.0, reader.passages_naming(named, vector, _NARROW_DEPTH)),
        Ranking("facts", _FACT_WEIGHT, list(stating)[:_NARROW_DEPTH]),
    ]
    seeds = [identity for identity, _ in fuse(rankings)[:_SEEDS]]
    rankings.append(Ranking("links", _LINK_WEIGHT, reader.linked_passages(seeds, vector, _NARROW_DEPTH)))
    return Found(question, vector, tuple(rankings), tuple(facts), tuple(named))


def _check_embedder(reader: GraphReader, embedder: Embedder) -> None:
    record = reader.record()
    if not record:
        return
    if not same_model(record.model_id, embedder.model_id) or record.dimension != embedder.dimension:
        raise EmbedderMismatch(
            f"the graph was embedded with {record.model_id} ({record.dimension} dimensions), "
            f"not with {embedder.model_id} ({embedder.dimension}): ask with the former"
        )


def _relevant(facts: Sequence[FoundFact]) -> list[FoundFact]:
    return [fact for i, fact in enumerate(facts) if i < _SURE_FACTS or fact.evidence.score >= _LEAST_SIMILARITY]


def _load_passages(reader: GraphReader, found: Found, k: int) -> list[Evidence]:
    best = dict(fuse(found.rankings)[:k])
    return [replace(passage, paths=best[passage.id]) for passage in reader.passages(list(best), found.vector)]


def _find_entities(reader: GraphReader, found: Found) -> list[Evidence]:
    """Find entities: those that the question names exactly, then by words and meaning of their names."""
    others = fuse(
        (
            Ranking("words", 1.0, reader.match_entities(found.question.words, _ENTITIES)),
            Ranking("meaning", 1.0, reader.nearest_entities(found.vector, _ENTITIES)),
        )
    )
    paths = dict.fromkeys(found.named, ("names",)) | {i: p for i, p in others if i not in found.named}
    loaded = reader.entities(list(paths)[:_ENTITIES], found.vector)
    return [replace(entity, paths=paths[entity.id]) for entity in loaded]
