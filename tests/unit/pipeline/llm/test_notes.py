"""What was answered of a passage that takes several calls is not asked for again, whatever comes between."""

import pytest

from pipeline.config import LlmConfig
from pipeline.errors import ModelBusy, PromptTooLong, UnreadCode
from pipeline.llm import LlmExtractor
from pipeline.models import Usage

TEXT = "Ann Lee works for Acme Corp. Bob Ray, who is 42, owns it."


class Shelf(dict):
    """An artifact store in memory."""

    store_id = "shelf"
    put = dict.__setitem__


@pytest.fixture
def shelf():
    return Shelf()


def read(model, ontology, shelf, **config):
    """Give what one turn makes of the passage."""
    extractor = LlmExtractor(model, LlmConfig(model="scripted/one", **config), threads=1, store=shelf)
    ((_, result),) = extractor.extract_each([TEXT], ontology)
    return result


def test_the_first_of_two_steps_is_paid_once_where_the_second_has_to_wait(chat, spell, ontology, shelf):
    model = chat(spell(("Ann Lee", "Person")), ModelBusy("wait"), spell(("Ann Lee", "Person")))
    assert isinstance(read(model, ontology, shelf, steps=2), ModelBusy)
    second = read(model, ontology, shelf, steps=2)
    assert [mention.name for mention in second.mentions] == ["Ann Lee"]
    assert len(model.requests) == 3
    assert second.usage.calls == 2, "what it cost in all turns"


def test_a_half_that_was_read_is_not_read_again_nor_is_the_whole_tried(chat, spell, ontology, shelf):
    halves = (spell(("Ann Lee", "Person")), spell(("Bob Ray", "Person")))
    model = chat(PromptTooLong("long"), halves[0], ModelBusy("wait"), halves[1])
    assert isinstance(read(model, ontology, shelf), ModelBusy)
    assert [mention.name for mention in read(model, ontology, shelf).mentions] == ["Ann Lee", "Bob Ray"]
    assert len(model.requests) == 4


def test_an_unusable_answer_is_not_kept(chat, spell, ontology, shelf):
    model = chat("no", "no", spell(("Ann Lee", "Person")), spell(("Ann Lee", "Person")))
    assert read(model, ontology, shelf, steps=2).unread_code is UnreadCode.MALFORMED
    assert read(model, ontology, shelf, steps=2).mentions
    assert len(model.requests) == 4


def test_a_passage_of_one_call_leaves_no_notes(chat, spell, ontology, shelf):
    result = read(chat(spell(("Ann Lee", "Person"))), ontology, shelf)
    assert result.usage != Usage()
    assert not shelf
