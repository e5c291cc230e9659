"""What the pipeline relies on, of every extractor that asks a service about each passage."""

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pipeline.adapters.callables import as_extractor
from pipeline.config import LlmConfig
from pipeline.errors import ModelBusy, PassageUnread, PipelineError, UnreadCode
from pipeline.extract import extract_each, stop, stoppable
from pipeline.ids import normalise_name
from pipeline.llm import LlmExtractor
from pipeline.llm.hybrid import HybridExtractor
from pipeline.models import Extraction, Mention, Usage
from pipeline.ontology import DEFAULT_ONTOLOGY
from pipeline.ports import CallingExtractor, ChatAnswer, ChatRequest

TEXTS = [
    "Marta Keller founded Nordlicht Systems in Bergen.",
    "",
    "surely Marta Keller sold it to Halvorsen Group.",
    "only words here, and no names.",
    "  \n ",
    "Łódź has a Café Müller.",
    "Marta Keller founded Nordlicht Systems in Bergen.",
]
REFUSED, BUSY = "It says Refuse Me.", "It says Call Later."
NAME = re.compile(r"(?!It )[^\W\d_a-zà-ÿ]\w+(?: [A-ZÀ-Þ]\w+)*")


class Service:
    """A language model that finds names by their capitals, in each passage by itself."""

    model = "scripted/one"

    def __init__(self):
        self.begun: list[str] = []
        self.ended = 0
        self.is_held = lambda text: False
        self.held = threading.Semaphore(0)
        self.released = threading.Event()
        self._counting = threading.Lock()

    def bound(self, request):
        return Usage(1, 1_000, 1_000, 1.0)

    def complete(self, request):
        text = re.findall(r"<passage>\n(.*)\n</passage>", request.user, re.DOTALL)[-1]
        with self._counting:
            self.begun.append(text)
        try:
            if self.is_held(text):
                self.held.release()
                assert self.released.wait(10)
            if text == BUSY:
                raise ModelBusy("rate limit")
            return ChatAnswer(spell(text), "refused" if text == REFUSED else "stop", Usage(1, 10, 5, 0.25), self.model)
        finally:
            with self._counting:
                self.ended += 1


def spell(text):
    found = [{"name": name, "type": "Organization", "confidence": 0.9} for name in NAME.findall(text)]
    return json.dumps({"entities": found, "relationships": []})


class Local:
    """A local model that knows the same names, and is sure where the text is."""

    fingerprint = "local"

    def extract(self, texts, ontology):
        return [Extraction(tuple(self._mentions(text))) for text in texts]

    def _mentions(self, text):
        score = 0.9 if "surely" in text else 0.5
        return [Mention(m[0], "Person", m.start(), m.end(), score=score) for m in NAME.finditer(text)]


class Own:
    """A user's object: asks about one passage after the other."""

    def __init__(self, service, prompt):
        self.fingerprint = f"own {prompt}"
        self._service = service

    def extract_each(self, texts, ontology):
        for position, text in enumerate(texts):
            try:
                yield position, self._ask(text)
            except PipelineError as error:
                yield position, error

    def _ask(self, text):
        answer = self._service.complete(ChatRequest("", f"<passage>\n{text}\n</passage>", {}, 100))
        if answer.finish == "refused":
            raise PassageUnread(UnreadCode.REFUSED, "It does not want to.")
        found = [Mention(item["name"], item["type"], -1, -1) for item in json.loads(answer.text)["entities"]]
        return Extraction(tuple(found), usage=answer.usage)


@dataclass
class Kind:
    """A kind of extractor; `make` gives one, of its first or of another configuration."""

    make: Callable[[Service, int], CallingExtractor]
    at_once: int
    """Calls that are under way together, while nobody waits for an answer."""


def llm(service, number, steps=1):
    return LlmExtractor(
        service, LlmConfig(model="scripted/one", steps=steps, max_output_tokens=100 + number), threads=3
    )


KINDS = {
    "llm in one step": Kind(llm, 3),
    "llm in two steps": Kind(lambda service, number: llm(service, number, steps=2), 3),
    "hybrid": Kind(lambda service, number: HybridExtractor(Local(), llm(service, 0), 0.75 - number / 10), 3),
    "an own object": Kind(lambda service, number: as_extractor(Own(service, number), "own:extractor"), 0),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def kind(request):
    return request.param


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def extractor(kind, service):
    return kind.make(service, 0)


def read(extractor, texts):
    return dict(extract_each(texts, extractor, DEFAULT_ONTOLOGY))


def test_it_is_told_from_extractors_that_ask_nobody(extractor):
    assert isinstance(extractor, CallingExtractor)


def test_each_text_is_answered_once(extractor):
    positions = [position for position, _ in extractor.extract_each(TEXTS, DEFAULT_ONTOLOGY)]
    assert sorted(positions) == list(range(len(TEXTS)))
    assert list(extractor.extract_each([], DEFAULT_ONTOLOGY)) == []


def test_results_do_not_depend_on_batch_mates_or_order(extractor):
    together = read(extractor, TEXTS)
    last = len(TEXTS) - 1
    backwards = {last - position: found for position, found in read(extractor, TEXTS[::-1]).items()}
    alone = {position: read(extractor, [text])[0] for position, text in enumerate(TEXTS)}
    assert together == backwards == alone
    assert together[0] == together[last]


def test_what_is_found_stands_in_its_text(extractor):
    found = read(extractor, TEXTS)
    assert [m.name for m in found[0].mentions] == ["Marta Keller", "Nordlicht Systems", "Bergen"]
    assert found[1].mentions == found[3].mentions == ()
    for position, one in found.items():
        for m in one.mentions:
            assert normalise_name(TEXTS[position][m.start : m.end]) == normalise_name(m.name)


def test_every_call_is_accounted_for_by_the_passage_that_it_was_made_for(extractor, service):
    found = read(extractor, TEXTS)
    for position, one in found.items():
        calls = service.begun.count(TEXTS[position]) / TEXTS.count(TEXTS[position])
        assert (one.usage.calls, one.usage.usd) == (calls, calls / 4)
    assert found[0].usage.calls


def test_what_cannot_be_told_of_one_passage_leaves_the_others(extractor):
    found = read(extractor, [TEXTS[0], REFUSED, TEXTS[2], BUSY, TEXTS[5]])
    assert isinstance(found[1], PassageUnread)
    assert found[1].unread_code is UnreadCode.REFUSED
    assert isinstance(found[3], ModelBusy)
    assert [found[n] for n in (0, 2, 4)] == [read(extractor, [TEXTS[n]])[0] for n in (0, 2, 5)]


LONG = [f"It is passage {number} of Marta Keller." for number in range(200)]


def end_in_the_middle(results, end, kind, service):
    """End a reading after its first result, by `end`, while its other calls are held; gives what that gives."""
    ended = threading.Event()

    def release():
        while not (results.gi_running or ended.is_set()):
            ended.wait(0.001)
        service.released.set()

    assert next(results)[0] == 0
    for _ in range(kind.at_once):
        assert service.held.acquire(timeout=10)
    releasing = threading.Thread(target=release)
    releasing.start()
    given = end(results)
    ended.set()
    releasing.join()
    # What is held may end just before the end takes effect.
    assert len(set(service.begun)) <= 2 * (1 + kind.at_once)
    return given


def test_closing_begins_no_further_call_and_waits_for_those_under_way(kind, extractor, service):
    service.is_held = lambda text: text != LONG[0]
    results = extract_each(LONG, extractor, DEFAULT_ONTOLOGY)
    begun, ended = end_in_the_middle(results, lambda r: r.close() or (len(service.begun), service.ended), kind, service)
    assert begun == ended == len(service.begun)


def test_what_is_under_way_when_no_more_is_to_be_asked_is_given(kind, extractor, service):
    service.is_held = lambda text: text != LONG[0]
    results = stoppable(extractor.extract_each(LONG, DEFAULT_ONTOLOGY))
    given = end_in_the_middle(results, lambda r: [stop(r), *r], kind, service)
    found = dict(one for one in given if one is not None)
    assert {LONG[0], *(LONG[position] for position in found)} == set(service.begun)
    assert all(isinstance(one, Extraction) and one.usage.calls for one in found.values())


def test_the_fingerprint_is_that_of_the_configuration(kind, service):
    first, same, other = (kind.make(service, number) for number in (0, 0, 1))
    read(first, TEXTS)
    assert first.fingerprint == same.fingerprint != other.fingerprint
    assert isinstance(first.fingerprint, str)
    assert first.fingerprint


def test_different_kinds_have_different_fingerprints(service):
    assert len({one.make(service, 0).fingerprint for one in KINDS.values()}) == len(KINDS)
