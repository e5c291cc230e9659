import threading

import pytest

from pipeline.config import LlmConfig
from pipeline.errors import BudgetSpent, ModelBusy, ModelRefused, ModelTimeout, PassageUnread
from pipeline.extract import extract_each
from pipeline.llm import LlmExtractor
from pipeline.models import Extraction
from pipeline.ports import CallingExtractor

TEXTS = [f"Ann works for Acme{n}." for n in range(6)]


def extractor_of(model, threads=1, **config):
    return LlmExtractor(model, LlmConfig(model="scripted/one", **config), threads)


def number_of(request):
    return next(n for n in range(6) if f"Acme{n}" in request.user)


def test_it_has_the_port_of_extractors_that_call(chat):
    assert isinstance(extractor_of(chat("")), CallingExtractor)


def test_every_passage_is_answered_under_its_position(chat, spell, ontology):
    model = chat(lambda request: spell((f"Acme{number_of(request)}", "Company")))
    found = dict(extract_each(TEXTS, extractor_of(model, threads=4), ontology))
    assert [found[n].mentions[0].name for n in range(6)] == [f"Acme{n}" for n in range(6)]
    assert len(model.requests) == 6


def test_no_more_passages_are_read_at_once_than_threads(chat, spell, ontology):
    together = threading.Barrier(3, timeout=10)

    def meet(_):
        together.wait()
        return spell()

    assert len(list(extractor_of(chat(meet), threads=3).extract_each(TEXTS, ontology))) == 6


@pytest.mark.parametrize("error", [ModelBusy("full"), ModelBusy("full", retry_after=2.0), ModelTimeout("slow")])
def test_an_error_of_one_passage_leaves_the_others(chat, spell, ontology, error):
    model = chat(spell(), error, spell())
    found = dict(extractor_of(model).extract_each(TEXTS, ontology))
    assert found.pop(1) is error
    assert all(isinstance(one, Extraction) for one in found.values())
    assert len(found) == 5


@pytest.mark.parametrize("error", [ModelBusy("full", retry_after=2.5), ModelRefused("key"), BudgetSpent("all of it")])
def test_once_a_model_takes_no_calls_none_is_begun(chat, spell, ontology, error):
    model = chat(spell(), error, spell())
    found = dict(extractor_of(model).extract_each(TEXTS, ontology))
    assert isinstance(found.pop(0), Extraction)
    assert list(found.values()) == [error] * 5
    assert len(model.requests) == 2


def test_after_such_an_error_a_passage_under_way_asks_nothing_more(chat, ontology):
    met = threading.Barrier(2, timeout=10)
    error = ModelRefused("key")

    def answer(request):
        met.wait()
        if number_of(request) == 0:
            return error
        # The first result is the other passage's error, so all is stopped by now.
        first.join(10)
        return "not JSON, so it would be asked for once more"

    model = chat(answer)
    results = extractor_of(model, threads=2).extract_each(TEXTS[:2], ontology)
    got = []
    first = threading.Thread(target=lambda: got.append(next(results)))
    first.start()
    first.join(10)
    assert [*got, *results] == [(0, error), (1, error)]
    assert len(model.requests) == 2


def test_closing_asks_nothing_more_and_waits_for_what_is_under_way(chat, spell, ontology):
    asked, may_answer = threading.Event(), threading.Event()

    def answer(request):
        if number_of(request):
            asked.set()
            assert may_answer.wait(10)
        return spell(("Ann", "Person"))

    model = chat(answer)
    results = extract_each(TEXTS, extractor_of(model, steps=2), ontology)
    next(results)
    assert asked.wait(10)
    closing = threading.Thread(target=results.close)
    closing.start()
    closing.join(0.05)  # it has every chance to end, and must not
    assert closing.is_alive()
    may_answer.set()
    closing.join(10)
    # Two calls for the first passage, the first one of the second.
    assert len(model.requests) == 3


def test_a_passage_that_cannot_be_read_leaves_the_others(chat, spell, ontology):
    model = chat(("", "refused"), spell())
    found = dict(extractor_of(model).extract_each(TEXTS, ontology))
    assert isinstance(found.pop(0), PassageUnread)
    assert all(isinstance(one, Extraction) for one in found.values())


def test_a_fault_of_the_program_is_raised(chat, ontology):
    with pytest.raises(ZeroDivisionError):
        list(extractor_of(chat(ZeroDivisionError()), threads=2).extract_each(TEXTS, ontology))


def test_the_fingerprint_is_of_all_that_changes_answers(chat):
    settings = [{}, {"steps": 2}, {"temperature": 0.5}, {"max_output_tokens": 100}]
    prints = {extractor_of(chat(""), threads=n, **one).fingerprint for one in settings for n in (1, 8)}
    assert len(prints) == len(settings)
    assert extractor_of(chat(""), threads=1, fallbacks="a/b").fingerprint in prints, "what was answered stays answered"
