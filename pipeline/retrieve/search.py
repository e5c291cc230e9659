"""From a question to evidence: passages, facts, relations and entities, by the paths that a query names.

Weights and depths were chosen on one half of a public set of two-hop questions and hold on the other
(`bench/retrieval.py`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.embed import embed_distinct, same_model
from pipeline.errors import EmbedderMismatch
from pipeline.models import Evidence, FoundFact, FoundRelation, Query, Rerank, Retrieval, SearchPath
from pipeline.ports import Embedder, GraphReader, Vectors
from pipeline.retrieve.kinds import asks_for_all, hint_of
from pipeline.retrieve.links import cap_relations, follow_links
from pipeline.retrieve.question import MAX_QUESTION_CHARS, Question, longest_phrases, read_question
from pipeline.retrieve.rank import Ranking, fuse, rank_matches

_MOST_FACTS = 12
_SURE_FACTS = 3
"""Facts that are given however little they resemble the question; the GraphRAG SDK's rule, as are its neighbours."""
_LEAST_SIMILARITY = 0.25
_SIBLINGS = 20
"""Entities that a question for all there are brings beside those found."""

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
_SEED_ENTITIES = 30
"""Entities whose relations are followed, those that the question names first."""
_NAME_WEIGHT = 0.75
_FACT_WEIGHT = 0.75
_LINK_WEIGHT = 2.0
_VECTOR_WEIGHT = 0.25

_NO_DOCUMENT = "No document is in the scope."
_CUT = f"The question was cut: its first {MAX_QUESTION_CHARS} characters were read."
_MORE_RELATIONS = "More relations are within reach than were followed: ask over fewer hops, or for something nearer."


@dataclass(frozen=True, slots=True)
class Found:
    """What the searches find for a question.

    Attributes:
        question: The question as it was read.
        vector: Its vector.
        rankings: Passages by each search, the last one all of them by their stored vectors.
        passages: All of those passages, by id.
        facts: Facts, most similar first.
        entities: Ids of entities with the paths that found them, those that the question names first.
        relations: Relations around entities, nearer hops first.
        cut_relations: Whether there are more of them.
    """

    question: Question
    vector: Vectors
    rankings: tuple[Ranking, ...]
    passages: Mapping[str, Evidence]
    facts: tuple[FoundFact, ...]
    entities: Mapping[str, tuple[str, ...]]
    relations: tuple[FoundRelation, ...]
    cut_relations: bool


def retrieve(query: Query, reader: GraphReader, embedder: Embedder) -> Retrieval:
    """Find evidence for a question: passages best first, then facts, relations and entities.

    Scores are cosines to the question; equals go by id. A fact that is also a relation of an entity found is given
    once, as a fact. `incomplete` says what could not be searched, or was left out. The path `cypher`
    finds nothing here.

    Raises:
        QueryInvalid: The question holds no word, or the scope names what documents do not have.
        EmbedderMismatch: The graph was built with another embedder.
        GraphMissing, GraphUnavailable: As the reader does; never "nothing found".
    """
    asked = read_question(query.question)
    hint = hint_of(asked.text)
    notes = [*reader.gaps(), *([_CUT] if asked.cut else [])]
    _check_embedder(reader, embedder)
    if query.scope and not reader.has_documents(query.scope):
        return Retrieval((), (*notes, _NO_DOCUMENT), hint)
    found = _search(asked, query, reader, embedder)
    if found.cut_relations and query.expand_hops > 1:
        notes.append(_MORE_RELATIONS)
    evidence = [
        *_choose_passages(found, query),
        *_tell_relations(found),
        *_load_entities(reader, found, query),
    ]
    # Asked again: an index may have begun to be built anew in between.
    return Retrieval(tuple(evidence), tuple(dict.fromkeys([*notes, *reader.gaps()])), hint)


def find_passages(query: Query, reader: GraphReader, embedder: Embedder) -> Found:
    """Run the searches of a query's paths: those of the question itself, then the links of what they find."""
    return _search(read_question(query.question), query, reader, embedder)


def _search(asked: Question, query: Query, reader: GraphReader, embedder: Embedder) -> Found:
    scope, paths = query.scope, query.paths
    vector = embed_distinct(embedder, [asked.text])[0]
    named = _find_named(asked, query, reader) if paths & {SearchPath.EXACT_NAMES, SearchPath.LINKS} else []
    similar = _find_similar(asked, vector, query, reader) if paths & {SearchPath.FUZZY_NAMES, SearchPath.LINKS} else {}
    wanted = query.facts if SearchPath.FACTS in paths else 0
    facts = _relevant(reader.nearest_facts(vector, wanted, scope)) if wanted else []
    rankings = list(_rank_passages(asked, vector, named, facts, query, reader))
    relations: list[FoundRelation] = []
    cut = False
    if SearchPath.LINKS in paths:
        seeds = [identity for identity, _ in fuse(rankings)] or reader.nearest_passages(vector, _SEEDS, scope)
        linked = reader.linked_passages(seeds[:_SEEDS], vector, _NARROW_DEPTH, scope)
        rankings.append(Ranking(SearchPath.LINKS, _LINK_WEIGHT, linked))
        cap = cap_relations(query.relations, query.passages, query.expand_hops)
        ends = list(dict.fromkeys([*named, *similar]))[:_SEED_ENTITIES]
        relations, cut = follow_links(ends, query.expand_hops, cap, vector, scope, reader)
    entities = dict.fromkeys(named, (SearchPath.EXACT_NAMES.value,)) if SearchPath.EXACT_NAMES in paths else {}
    if SearchPath.FUZZY_NAMES in paths:
        entities |= {one: (*entities.get(one, ()), *found) for one, found in similar.items()}
    ids = dict.fromkeys(identity for ranking in rankings for identity in ranking.ids)
    passages = {passage.id: passage for passage in reader.passages(list(ids), vector, scope)}
    rankings.append(Ranking("", _VECTOR_WEIGHT, _by_score(passages.values()), "vectors"))
    return Found(asked, vector, tuple(rankings), passages, tuple(facts), entities, tuple(relations), cut)


def _rank_passages(
    asked: Question,
    vector: Vectors,
    named: Sequence[str],
    facts: Sequence[FoundFact],
    query: Query,
    reader: GraphReader,
) -> Iterator[Ranking]:
    """Rank passages by each path but links."""
    scope = query.scope
    if SearchPath.PASSAGES in query.paths:
        yield Ranking(SearchPath.PASSAGES, 1.0, reader.nearest_passages(vector, _DEPTH, scope), "meaning")
        matches = reader.match_passages(asked.words, _CANDIDATES, scope)
        yield Ranking(SearchPath.PASSAGES, 1.0, rank_matches(matches)[:_DEPTH], "words")
    if SearchPath.EXACT_NAMES in query.paths:
        naming = reader.passages_naming(named, vector, _NARROW_DEPTH, scope)
        yield Ranking(SearchPath.EXACT_NAMES, _NAME_WEIGHT, naming)
    if SearchPath.FACTS in query.paths:
        stating = dict.fromkeys(passage for fact in facts[:_STATING_FACTS] for passage in fact.passage_ids)
        yield Ranking(SearchPath.FACTS, _FACT_WEIGHT, list(stating)[:_NARROW_DEPTH])


def _find_named(asked: Question, query: Query, reader: GraphReader) -> list[str]:
    """Find the entities that the question names exactly."""
    keys = dict.fromkeys(phrase.key for phrase in asked.phrases)
    by_key = reader.entities_named(list(keys), query.scope)
    phrases = longest_phrases(asked.phrases, by_key.keys())
    return list(dict.fromkeys(identity for phrase in phrases for identity in by_key[phrase.key]))


def _find_similar(asked: Question, vector: Vectors, query: Query, reader: GraphReader) -> dict[str, tuple[str, ...]]:
    """Find entities by the words and the meaning of their names."""
    depth = max(query.entities, _SEED_ENTITIES)
    words = Ranking(SearchPath.FUZZY_NAMES, 1.0, reader.match_entities(asked.words, depth, query.scope), "words")
    meaning = Ranking(SearchPath.FUZZY_NAMES, 1.0, reader.nearest_entities(vector, depth, query.scope), "meaning")
    return dict(fuse((words, meaning)))


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
    kept = [fact for i, fact in enumerate(facts) if i < _SURE_FACTS or fact.evidence.score >= _LEAST_SIMILARITY]
    return kept[:_MOST_FACTS]


def _by_score(evidence: Iterable[Evidence]) -> list[str]:
    return [one.id for one in sorted(evidence, key=lambda one: (-one.score, one.id))]


def _choose_passages(found: Found, query: Query) -> list[Evidence]:
    paths = dict(fuse(found.rankings))
    order = _by_score(found.passages.values()) if query.rerank is Rerank.COSINE else list(paths)
    best = [identity for identity in order if identity in found.passages][: query.passages]
    return [replace(found.passages[identity], paths=paths[identity]) for identity in best]


def _tell_relations(found: Found) -> Iterator[Evidence]:
    """Give facts, then the relations that are not among them."""
    hops = {relation.evidence.id: relation.evidence.hop for relation in found.relations}
    told = {fact.evidence.id for fact in found.facts}
    for fact in found.facts:
        hop = hops.get(fact.evidence.id, 0)
        paths = (SearchPath.FACTS.value, *([SearchPath.LINKS.value] if hop else []))
        yield replace(fact.evidence, paths=paths, hop=hop)
    for relation in found.relations:
        if relation.evidence.id not in told:
            yield replace(relation.evidence, paths=(SearchPath.LINKS.value,))


def _load_entities(reader: GraphReader, found: Found, query: Query) -> list[Evidence]:
    """Load the entities found, and for a question for all there are those that hang together with them."""
    paths = dict(list(found.entities.items())[: query.entities])
    if SearchPath.LINKS in query.paths and paths and asks_for_all(found.question.text):
        for sibling in reader.siblings(list(paths), _SIBLINGS, query.scope):
            paths.setdefault(sibling, (SearchPath.LINKS.value,))
    loaded = reader.entities(list(paths), found.vector, query.scope)
    return [replace(entity, paths=paths[entity.id]) for entity in loaded]
