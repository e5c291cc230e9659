"""The rules of evidence numbers, on the quick double and on a real Redis."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import fakeredis
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from pipeline.errors import QueryInvalid
from pipeline.models import Evidence
from scheduler import sessions
from scheduler.errors import LedgerUnavailable
from scheduler.sessions import MOST_ITEM_CHARS, NO_NUMBER, Cited, EvidenceSessions


@pytest.fixture(params=["double", "real"])
def client(request):
    if request.param == "double":
        return fakeredis.FakeRedis(decode_responses=True, version=(7, 4))
    return request.getfixturevalue("redis_client")


@pytest.fixture
def evidence_sessions(client):
    return EvidenceSessions(client, expiry_seconds=600)


def passage(name, text=None):
    return Evidence("passage", name, f"text of {name}" if text is None else text, 0.5)


def number(evidence_sessions, session, items, graph="g"):
    return evidence_sessions.number(session, items, "retrieve", graph)


def texts_of(sessions, session_id, numbers):
    return {n: cited.evidence.text for n, cited in sessions.items(session_id, numbers).items()}


def test_numbers_run_on_over_the_calls_of_a_session(evidence_sessions):
    assert number(evidence_sessions, "s", [passage("a"), passage("b")]) == [1, 2]
    assert number(evidence_sessions, "s", [passage("c")]) == [3]


def test_an_item_seen_again_keeps_its_number(evidence_sessions):
    number(evidence_sessions, "s", [passage("a"), passage("b")])
    assert number(evidence_sessions, "s", [passage("c"), passage("a"), passage("c")]) == [3, 1, 3]


def test_an_item_whose_text_has_changed_is_another_item(evidence_sessions):
    assert number(evidence_sessions, "s", [passage("a", "old"), passage("a", "new")]) == [1, 2]
    assert texts_of(evidence_sessions, "s", [1, 2]) == {1: "old", 2: "new"}


@pytest.mark.parametrize(
    "place", [{"document": "e"}, {"version": "w"}, {"passage": "q"}, {"source": "e.txt"}, {"start": 7}]
)
def test_the_same_words_elsewhere_or_in_another_version_are_another_item(evidence_sessions, place):
    here = Evidence("fact", "f", "Ann founded Acme", 0.5, "d.txt", start=0, document="d", version="v", passage="p")
    there = replace(here, **place)
    assert number(evidence_sessions, "s", [here]) == [1]
    assert number(evidence_sessions, "s", [there, here]) == [2, 1]
    assert [cited.evidence for cited in evidence_sessions.items("s", [1, 2]).values()] == [here, there]


def test_an_item_without_text_gets_no_number(evidence_sessions):
    assert number(evidence_sessions, "s", [passage("a", " \n"), passage("b")]) == [NO_NUMBER, 1]
    assert number(evidence_sessions, "s", []) == []


def test_texts_come_back_whole_and_unknown_numbers_are_left_out(evidence_sessions):
    long = "größer – " * 1_700
    number(evidence_sessions, "s", [passage("a", long)])
    assert texts_of(evidence_sessions, "s", [1, 1, 2, 0, -3, 10**30]) == {1: long}
    assert texts_of(evidence_sessions, "s", []) == {}


def test_a_number_stands_for_an_item_with_its_place_and_what_gave_it(evidence_sessions):
    said, place = 'Ann founded "Acme", \u2028 größer', ("a/b.txt", 0, 0, 9, "A > B")
    item = Evidence("fact", "f", said, 0.25, *place, ("facts", "links"), "d", "v", "p", 2)
    bare = Evidence("row", "r", "n: 1", 0.0)
    evidence_sessions.number("s", [item], "retrieve", "one")
    evidence_sessions.number("s", [bare], "navigate", "two")
    assert evidence_sessions.items("s", [2, 1, 3]) == {
        1: Cited(item, "retrieve", "one"),
        2: Cited(bare, "navigate", "two"),
    }


def test_what_is_first_known_of_an_item_stays(evidence_sessions):
    evidence_sessions.number("s", [passage("a")], "retrieve", "g")
    assert evidence_sessions.number("s", [passage("a")], "navigate", "g") == [1]
    assert evidence_sessions.items("s", [1])[1].tool == "retrieve"


def test_equal_items_of_two_graphs_have_two_numbers(evidence_sessions):
    assert number(evidence_sessions, "s", [passage("a")], "one") == [1]
    assert number(evidence_sessions, "s", [passage("a")], "two") == [2]
    assert [cited.graph for cited in evidence_sessions.items("s", [1, 2]).values()] == ["one", "two"]


def test_a_text_without_end_is_remembered_up_to_a_limit_and_told_apart_by_all_of_it(evidence_sessions):
    endless = "x" * (MOST_ITEM_CHARS + 1)
    assert number(evidence_sessions, "s", [passage("a", endless), passage("a", endless + "y")]) == [1, 2]
    assert texts_of(evidence_sessions, "s", [1, 2]) == {1: endless[:-1], 2: endless[:-1]}


def test_numbers_from_before_there_were_records_still_have_their_texts(evidence_sessions, client):
    number(evidence_sessions, "s", [passage("a")])
    client.hset("gm:session:s:counter", "number", 3)
    client.hset("gm:session:s:texts", mapping={"2": 'an old "text": größer', "3": '{"tool": "no record"}'})
    assert texts_of(evidence_sessions, "s", [1, 2, 3]) == {
        1: "text of a",
        2: 'an old "text": größer',
        3: '{"tool": "no record"}',
    }
    assert evidence_sessions.items("s", [2])[2] == Cited(Evidence("", "", 'an old "text": größer', 0.0), "", "")
    assert 0 < client.ttl("gm:session:s:texts") <= 600


def test_a_number_of_another_session_is_unknown(evidence_sessions):
    number(evidence_sessions, "one", [passage("a"), passage("b")])
    number(evidence_sessions, "two", [passage("c")])
    assert texts_of(evidence_sessions, "two", [1, 2]) == {1: "text of c"}


@pytest.mark.parametrize("numbers", [[1], []])
def test_a_session_that_never_was_or_has_expired_is_an_error_that_says_so(evidence_sessions, client, numbers):
    number(evidence_sessions, "s", [passage("a")])
    for key in client.keys("gm:session:s:*"):
        client.delete(key)
    for name in ("s", "nobody"):
        with pytest.raises(QueryInvalid, match=f"session '{name}' is unknown here or has expired"):
            texts_of(evidence_sessions, name, numbers)


def test_a_session_whose_questions_found_nothing_is_known(evidence_sessions, client):
    assert number(evidence_sessions, "s", []) == []
    assert texts_of(evidence_sessions, "s", [1]) == {}
    assert number(evidence_sessions, "s", [passage("a")]) == [1]
    assert all(client.ttl(key) > 0 for key in client.keys("gm:session:s:*"))


def test_a_full_session_drops_what_was_used_longest_ago(evidence_sessions, client, monkeypatch):
    monkeypatch.setattr(sessions, "CAPACITY", 3)
    number(evidence_sessions, "s", [passage("a"), passage("b"), passage("c")])
    number(evidence_sessions, "s", [passage("a"), passage("d")])
    assert sorted(texts_of(evidence_sessions, "s", range(1, 9))) == [1, 3, 4]
    assert client.hlen("gm:session:s:items") == 3
    assert number(evidence_sessions, "s", [passage("b")]) == [5], "a dropped number is never given again"


def test_a_session_ends_some_time_after_its_last_use(evidence_sessions, client):
    number(evidence_sessions, "s", [passage("a")])
    keys = client.keys("gm:session:*")
    assert len(keys) == 4
    assert all(0 < client.ttl(key) <= 600 for key in keys)
    for key in keys:
        client.expire(key, 5)
    texts_of(evidence_sessions, "s", [1])
    assert all(client.ttl(key) > 500 for key in keys)


def test_concurrent_calls_never_share_a_number(evidence_sessions):
    def number_some(worker):
        return [number(evidence_sessions, "s", [passage(f"{worker}-{i}"), passage("shared")]) for i in range(20)]

    with ThreadPoolExecutor(4) as pool:
        calls = [call for worker in pool.map(number_some, range(4)) for call in worker]
    own, shared = [first for first, _ in calls], {second for _, second in calls}
    assert len(shared) == 1
    assert sorted({*own, *shared}) == list(range(1, 82))


@pytest.mark.parametrize("session_id", ["", "a:b", "a b", "{a}", "é", "-a", "a\n", "x" * 65])
def test_a_session_id_that_is_no_plain_word_is_refused(evidence_sessions, session_id):
    with pytest.raises(QueryInvalid, match="session id"):
        number(evidence_sessions, session_id, [passage("a")])
    with pytest.raises(QueryInvalid, match="session id"):
        texts_of(evidence_sessions, session_id, [1])


def test_a_session_without_a_life_is_refused(client):
    with pytest.raises(ValueError, match="0 seconds"):
        EvidenceSessions(client, expiry_seconds=0)


def test_an_unreachable_redis_is_an_error_and_not_an_unknown_number():
    with redis.Redis(port=1, decode_responses=True, retry=Retry(NoBackoff(), 0)) as client:
        unreachable = EvidenceSessions(client, expiry_seconds=600)
        with pytest.raises(LedgerUnavailable):
            texts_of(unreachable, "s", [1])
