"""How long the numbers of a conversation live that nobody named, on both kinds of Redis."""

import pytest

from pipeline.errors import QueryInvalid
from pipeline.models import Evidence
from scheduler.sessions import UNNAMED_SECONDS, EvidenceSessions, new_session_id

DAY = 86_400
ITEM = Evidence("passage", "p", "Ada Quill founded Northlight Press.", 0.5)


def lives(client, session):
    """Give the longest life of anything of a session, in seconds."""
    return max(client.ttl(key) for key in client.keys(f"gm:session:{session}:*"))


@pytest.mark.parametrize(("name", "seconds"), [("", UNNAMED_SECONDS), ("mine", DAY)])
def test_a_session_that_its_caller_did_not_name_ends_sooner(client, name, seconds):
    sessions, session = EvidenceSessions(client, expiry_seconds=DAY), name or new_session_id()
    sessions.number(session, [ITEM], "retrieve", "g")
    assert seconds - 5 < lives(client, session) <= seconds
    client.expire(f"gm:session:{session}:counter", 10)
    assert sessions.items(session, [1])[1].evidence == ITEM
    assert seconds - 5 < lives(client, session) <= seconds, "each use prolongs it"


def test_a_session_that_was_not_named_lives_no_longer_than_any_other(client):
    sessions, session = EvidenceSessions(client, expiry_seconds=60), new_session_id()
    sessions.number(session, [ITEM], "retrieve", "g")
    assert lives(client, session) <= 60


def test_an_expired_session_is_told_with_its_own_life(client):
    with pytest.raises(QueryInvalid, match=r"3,600 s after its last use"):
        EvidenceSessions(client, expiry_seconds=DAY).items(new_session_id(), [1])


def test_no_two_conversations_get_the_same_name():
    assert len({new_session_id() for _ in range(1_000)}) == 1_000
