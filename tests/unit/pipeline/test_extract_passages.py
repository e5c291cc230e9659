import pytest

from pipeline.errors import ModelBusy, ModelOutputInvalid
from pipeline.extract import StopAsking, extract_each
from pipeline.extract.passages import SLICE
from pipeline.models import Extraction, Mention, Usage
from pipeline.ontology import DEFAULT_ONTOLOGY

TEXTS = [f"Ann{n} is here." for n in range(2 * SLICE + 3)]


def say(text):
    return Extraction((Mention(text.split()[0], "human", -1, -1),), usage=Usage(1, 2, 3, 0.5))


class Whole:
    fingerprint = "whole"

    def __init__(self):
        self.given = []

    def extract(self, texts, ontology):
        self.given.append(len(texts))
        return [say(text) for text in texts]


class Calling:
    """A `CallingExtractor` that answers for the texts backwards, all but those `left`."""

    fingerprint = "calling"

    def __init__(self, errors=None, left=()):
        self.errors = errors or {}
        self.left = left
        self.closed = False

    def extract_each(self, texts, ontology):
        try:
            for position in reversed(range(len(texts))):
                if position not in self.left:
                    yield position, self.errors.get(position) or say(texts[position])
        finally:
            self.closed = True


def names(found):
    return {position: [(m.name, m.type) for m in one.mentions] for position, one in found}


EXPECTED = {n: [(f"Ann{n}", "Person")] for n in range(len(TEXTS))}


def test_passages_are_read_in_slices_and_come_grounded_with_their_positions():
    extractor = Whole()
    found = extract_each(TEXTS, extractor, DEFAULT_ONTOLOGY)
    assert next(found)[0] == 0
    assert extractor.given == [SLICE]
    assert names(found) == {n: one for n, one in EXPECTED.items() if n}
    assert extractor.given == [SLICE, SLICE, 3]


def test_answers_of_a_service_are_grounded_as_they_come_and_errors_pass():
    error = ModelBusy("full")
    found = dict(extract_each(TEXTS, Calling({1: error}), DEFAULT_ONTOLOGY))
    assert list(found) == list(reversed(range(len(TEXTS))))
    assert found.pop(1) is error
    assert names(found.items()) == {n: one for n, one in EXPECTED.items() if n != 1}
    assert found[0].usage == Usage(1, 2, 3, 0.5)


def test_closing_closes_the_extractor():
    extractor = Calling()
    found = extract_each(TEXTS, extractor, DEFAULT_ONTOLOGY)
    next(found)
    assert not extractor.closed
    found.close()
    assert extractor.closed


def test_once_it_is_over_what_is_under_way_is_given_and_no_more():
    class UnderWay(Calling):
        def extract_each(self, texts, ontology):
            try:
                yield 0, say(texts[0])
            except StopAsking:
                yield from ((n, say(texts[n])) for n in (1, 2))

    found = extract_each(TEXTS, UnderWay(), DEFAULT_ONTOLOGY, lambda: True)
    assert names(found) == {n: EXPECTED[n] for n in range(3)}


@pytest.mark.parametrize(("extractor", "given"), [(Calling(), 1), (Whole(), SLICE)])
def test_an_extractor_that_knows_no_such_end_is_closed(extractor, given):
    assert len(dict(extract_each(TEXTS, extractor, DEFAULT_ONTOLOGY, lambda: True))) == given
    assert getattr(extractor, "closed", True)


def test_extractors_that_need_not_be_closed_will_do():
    class Listing:
        fingerprint = "listing"

        def extract_each(self, texts, ontology):
            return iter([(n, say(text)) for n, text in enumerate(texts)])

    assert names(extract_each(TEXTS, Listing(), DEFAULT_ONTOLOGY)) == EXPECTED


def test_an_extractor_that_leaves_out_a_text_is_refused():
    class Short(Whole):
        def extract(self, texts, ontology):
            return super().extract(texts, ontology)[1:]

    with pytest.raises(ModelOutputInvalid, match="15 results for 16"):
        list(extract_each(TEXTS, Short(), DEFAULT_ONTOLOGY))
    with pytest.raises(ModelOutputInvalid, match="no result for 2 of 35"):
        list(extract_each(TEXTS, Calling(left=(3, 4)), DEFAULT_ONTOLOGY))
