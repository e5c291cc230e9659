from collections.abc import Iterator

import pytest
from readable_graph import EAST, EPOCH, NORTH, NORTHEAST, UP, Store, founded, id_of, make_document

from pipeline.adapters.falkor import connect
from pipeline.ids import entity_id, relation_key
from pipeline.models import WHOLE_GRAPH, Relation
from pipeline.ontology import DEFAULT_ONTOLOGY


@pytest.fixture
def store(graph_server, graph_name) -> Iterator[Store]:
    graph = connect(graph_server.url, graph_name)
    yield Store(graph)
    graph.close()


def test_links_lead_to_passages_that_open_with_what_a_passage_mentions(store):
    names = [("Ada Bell", "Person"), ("Quay House", "Organization")]
    house, ada, passing = "Quay House was founded by Ada Bell.", "Ada Bell was born in 1840.", "Nobody knew Ada Bell."
    store.write(*(make_document(f"{i}.txt", text, names=names) for i, text in enumerate((house, ada, passing))))
    store.finish()
    assert store.reader.linked_passages([id_of("0.txt", house)], EAST, 5, WHOLE_GRAPH) == [id_of("1.txt", ada)]
    assert store.reader.linked_passages([id_of("1.txt", ada)], EAST, 5, WHOLE_GRAPH) == []


def test_a_fact_names_all_passages_that_state_it_also_after_a_merge(store):
    text, again = "Some say Ada Bell founded Bell Works.", "Ada Bell founded Bell Works Ltd in 1871."
    store.write(
        make_document(
            "a.txt",
            text,
            names=[("Ada Bell", "Person"), ("Bell Works", "Organization")],
            relations=[founded("Ada Bell", "Bell Works", 9, 37)],
        ),
        make_document(
            "b.txt",
            again,
            names=[("Ada Bell", "Person"), ("Bell Works Ltd", "Organization")],
            relations=[founded("Ada Bell", "Bell Works Ltd", 0, 40)],
        ),
    )
    kept, gone = entity_id("Bell Works", "Organization"), entity_id("Bell Works Ltd", "Organization")
    assert store.curator.merge(kept, gone, EPOCH)
    store.embed("relation", {f"ada bell__person\x1fFOUNDED\x1f{kept}": EAST})
    store.finish()
    (fact,) = store.reader.nearest_facts(EAST, 5, WHOLE_GRAPH)
    places = {id_of("a.txt", text): ("a.txt", 9, 37), id_of("b.txt", again): ("b.txt", 0, 40)}
    assert fact.passage_ids == tuple(sorted(places))
    evidence = fact.evidence
    assert (evidence.source, evidence.start, evidence.end) == places[min(places)]
    assert evidence.kind == "fact"
    assert evidence.text.startswith("(Ada Bell, FOUNDED, Bell Works")
    assert evidence.score == pytest.approx(1, abs=1e-5)


def test_a_graph_without_supports_tells_provenance_from_the_fact_itself(store):
    store.writer.prepare(DEFAULT_ONTOLOGY)
    store.graph.query(
        "CREATE (:Document {id: 'd', path: 'd.txt', content_hash: 'x'})-[:PART_OF]->(:Chunk {id: 'c', text: 'Ada'}), "
        "(a:__Entity__ {id: 'a', name: 'Ada'})-[:RELATES {rel_type: 'KNOWS', fact: '(Ada, KNOWS, Gil): so', "
        "source_chunk_ids: ['c', 'gone'], embedding: vecf32([1, 0, 0])}]->(:__Entity__ {id: 'g', name: 'Gil'}), "
        "(a)-[:RELATES {rel_type: 'SAW', source_chunk_ids: ['c']}]->(:__Entity__ {id: 'u__person'})"
    )
    store.finish()
    (fact,) = store.reader.nearest_facts(EAST, 5, WHOLE_GRAPH)
    assert (fact.passage_ids, fact.evidence.source) == (("c",), "d.txt")
    (relation,) = store.reader.relations_of(["g"], EAST, 5, WHOLE_GRAPH)
    assert (relation.source, relation.target, relation.evidence.passage) == ("a", "g", "c")
    (untold,) = store.reader.relations_of(["u__person"], EAST, 5, WHOLE_GRAPH)
    assert untold.evidence.text == "(a, SAW, u)"


def knows(source: str, target: str) -> Relation:
    return Relation(source, "Person", target, "Person", "KNOWS", f"{source} knows {target}.", 0, 5)


def write_friends(store: Store, *pairs: tuple[str, str], path: str = "a.txt") -> dict[str, str]:
    """Write a passage for each pair of people who know each other; gives ids of relations by their pairs."""
    names = [(name, "Person") for name in dict.fromkeys(name for pair in pairs for name in pair)]
    texts = [f"{one} knows {other}." for one, other in pairs]
    store.write(make_document(path, *texts, names=names, relations=[knows(*pair) for pair in pairs]))
    ends = {name: entity_id(name, "Person") for name, _ in names}
    return {f"{one} {other}": relation_key(ends[one], "KNOWS", ends[other]) for one, other in pairs}


def test_relations_of_entities_come_by_similarity_each_once_in_the_direction_in_which_they_are_stated(store):
    keys = write_friends(store, ("Ada", "Gil"), ("Rosa", "Ada"), ("Gil", "Tom"), ("Ida", "Uwe"))
    store.embed("relation", {keys["Ada Gil"]: NORTH, keys["Rosa Ada"]: EAST, keys["Gil Tom"]: NORTHEAST})
    store.finish()
    found = store.reader.relations_of(["ada__person", "gil__person", "nobody__person"], EAST, 9, WHOLE_GRAPH)
    assert [one.evidence.id for one in found] == [keys["Rosa Ada"], keys["Gil Tom"], keys["Ada Gil"]]
    assert (found[0].source, found[0].target) == ("rosa__person", "ada__person")
    evidence = found[0].evidence
    assert (evidence.kind, evidence.text) == ("relation", "(Rosa, KNOWS, Ada): Rosa knows Ada.")
    assert (evidence.source, evidence.document, evidence.passage) == (
        "a.txt",
        "a.txt",
        id_of("a.txt", "Rosa knows Ada."),
    )
    assert evidence.score == pytest.approx(1, abs=1e-5)
    assert store.reader.relations_of(["ada__person"], EAST, 1, WHOLE_GRAPH) == found[:1]
    assert store.reader.relations_of([], EAST, 5, WHOLE_GRAPH) == []


def test_equally_similar_relations_come_by_their_ends(store):
    keys = write_friends(store, *(("Ada", f"Friend{i}") for i in range(30)))
    store.finish()
    found = store.reader.relations_of(["ada__person"], UP, 7, WHOLE_GRAPH)
    assert [one.evidence.id for one in found] == sorted(keys.values())[:7]


def test_relations_that_no_written_document_states_make_room_for_others(store):
    hidden = write_friends(store, *(("Ada", f"Ghost{i}") for i in range(40)), path="b.txt")
    shown = write_friends(store, ("Ada", "Gil"))
    store.embed("relation", dict.fromkeys(hidden.values(), EAST))
    store.finish()
    store.unstamp("b.txt")
    (found,) = store.reader.relations_of(["ada__person"], EAST, 3, WHOLE_GRAPH)
    assert found.evidence.id == shown["Ada Gil"]
    assert [fact.evidence.source for fact in store.reader.nearest_facts(EAST, 3, WHOLE_GRAPH)] == []


def test_siblings_hang_on_what_two_of_the_given_hang_on(store):
    write_friends(store, *((name, "Hub") for name in ("Ada", "Gil", "Zoe", "Ben")), ("Ada", "Solo"), ("Solo", "Uwe"))
    store.finish()
    given = ["ada__person", "gil__person"]
    assert store.reader.siblings(given, 20, WHOLE_GRAPH) == ["ben__person", "zoe__person"]
    assert store.reader.siblings(given, 1, WHOLE_GRAPH) == ["ben__person"]
    assert store.reader.siblings(given[:1], 20, WHOLE_GRAPH) == []


def test_an_entity_with_very_many_relations_has_no_siblings(store):
    write_friends(store, ("Ada", "Hub"), ("Gil", "Hub"))
    store.graph.query(
        "MATCH (h:__Entity__ {id: 'hub__person'}) UNWIND range(1, 1100) AS i "
        "CREATE (h)<-[:RELATES {rel_type: 'KNOWS'}]-(:__Entity__ {id: toString(i), name: toString(i)})"
    )
    assert store.reader.siblings(["ada__person", "gil__person"], 20, WHOLE_GRAPH) == []
