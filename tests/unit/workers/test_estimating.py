"""Surveying a corpus for an estimate, and what is shown of it."""

import json
from pathlib import Path

import pytest

from pipeline.config import CallConfig, ChunkConfig, LlmConfig, LoadConfig, RecipeConfig
from pipeline.errors import LoadCode, LoadError
from pipeline.estimate import Survey, estimate
from pipeline.models import LoadedText
from pipeline.ontology import DEFAULT_ONTOLOGY
from scheduler.recipe import Recipe
from scheduler.records import Budget
from workers.cli.estimate import show_estimate
from workers.cli.exits import ExitCode
from workers.cli.output import Output
from workers.estimating import survey

ADA = "Ada Lovelace met Charles Babbage in London."
ALAN = "Alan Turing worked at Bletchley Park."


class PlainReader:
    fingerprint = "plain"

    def read(self, data: bytes, name: str) -> LoadedText:
        if not data:
            raise LoadError(LoadCode.EMPTY_DOCUMENT, f"{name} is empty.")
        return LoadedText(data.decode(), "text/plain")


class Unasked:
    fingerprint = "unasked"

    def extract(self, texts, ontology):
        raise AssertionError("a dry run asks nobody")


def recipe(extractor: str = "llm") -> Recipe:
    config = RecipeConfig(
        extractor=extractor,
        ontology=DEFAULT_ONTOLOGY,
        load=LoadConfig(),
        chunk=ChunkConfig(),
        llm=LlmConfig(model="openai/some"),
    )
    return Recipe(PlainReader(), Unasked(), config)


@pytest.fixture
def corpus(tmp_path) -> Path:
    for name, text in {"a.txt": ADA, "b.md": ALAN, "deep/c.txt": ADA, "empty.txt": "", "d.doc": "x"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def look(corpus: Path, stored: frozenset[str] = frozenset(), of: Recipe | None = None) -> Survey:
    return survey(corpus, [corpus], of or recipe(), stored.__contains__, lambda files, passages: None)


def test_files_are_counted_by_type_with_their_size_and_passages(corpus):
    found = look(corpus)
    text = found.types[".txt"]
    assert (text.files, text.bytes, text.unread, text.passages) == (3, 2 * len(ADA), 1, 2)
    assert (found.types[".md"].files, found.types[".md"].passages) == (1, 1)
    assert (found.files, found.bytes) == (5, 2 * len(ADA) + len(ALAN) + 1)


def test_files_without_text_are_counted_by_their_code(corpus):
    assert look(corpus).unread == {"empty_document": 1, "unsupported_format": 1}


def test_a_passage_that_is_repeated_is_asked_for_once(corpus):
    found = look(corpus)
    assert (found.passages, found.repeated, found.stored, found.to_read) == (3, 1, 0, 2)
    assert found.usage.calls == 2
    assert found.words == len(ADA.split()) + len(ALAN.split())


def test_a_passage_that_was_read_before_is_asked_for_no_more(corpus):
    found = look(corpus, stored=frozenset({recipe().extraction_key(ADA)}))
    assert (found.repeated, found.stored, found.to_read, found.usage.calls) == (1, 1, 1, 1)


def test_what_was_read_under_the_ontology_that_this_one_grew_from_counts_as_read(corpus):
    of = recipe()
    config = of.config.model_copy(update={"grown_from": "an earlier fingerprint"})
    grown = Recipe(of.reader, of.extractor, config)
    assert look(corpus, frozenset({grown.grown_key(ALAN)}), grown).stored == 1


def test_a_local_extractor_needs_no_call(corpus):
    assert look(corpus, of=recipe("spacy-rules")).usage.calls == 0


def test_nothing_is_written_beside_the_files(corpus):
    before = sorted(corpus.rglob("*"))
    look(corpus)
    assert sorted(corpus.rglob("*")) == before


def test_the_progress_is_told_file_by_file_and_may_end_the_survey(corpus):
    told: list[tuple[int, int]] = []

    def surveyed(files: int, passages: int) -> None:
        told.append((files, passages))
        if files == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        survey(corpus, [corpus], recipe(), lambda key: False, surveyed)
    assert [files for files, _ in told] == [1, 2, 3]


def shown(capsys, corpus, budget=None, *, as_json=False, usd: float | None = 0.25, extractor="llm") -> str:
    of = recipe(extractor)
    told = estimate(look(corpus, of=of), of.config, CallConfig(), lambda i, o: usd, processes=2)
    assert show_estimate(Output(as_json=as_json), told, budget) is ExitCode.OK
    return capsys.readouterr().out


def test_an_estimate_shows_files_passages_calls_tokens_price_and_time(capsys, corpus):
    text = shown(capsys, corpus)
    assert "Passages: 3, of these 1 repeated and 0 read before; 2 are to be read" in text
    assert "Not read: 1 empty_document, 1 unsupported_format" in text
    assert "Extractor llm (openai/some): 2 calls" in text
    assert "Price: 0.25 USD" in text
    assert "Time: about" in text
    assert "--max-" not in text


def test_an_estimate_as_json_holds_the_same(capsys, corpus):
    told = json.loads(shown(capsys, corpus, Budget(usd=0.1), as_json=True))
    assert told["files"] == {"total": 5, "bytes": 124, "unread": {"empty_document": 1, "unsupported_format": 1}}
    assert told["passages"] == {"total": 3, "repeated": 1, "stored": 0, "to_read": 2}
    assert (told["calls"], told["usd"], told["over"]) == (2, 0.25, ["usd"])


def test_a_budget_that_will_not_do_is_named(capsys, corpus):
    assert "More than --max-usd" in shown(capsys, corpus, Budget(usd=0.1))
    assert "More than --max-tokens" in shown(capsys, corpus, Budget(tokens=10))


def test_an_unknown_price_is_unknown(capsys, corpus):
    assert "Price: unknown" in shown(capsys, corpus, usd=None)
    assert json.loads(shown(capsys, corpus, usd=None, as_json=True))["usd"] is None


def test_an_extractor_of_the_users_own_is_not_guessed_at(capsys, corpus):
    assert "are unknown" in shown(capsys, corpus, extractor="mine:extract")
