from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import QueryInvalid
from pipeline.models import Evidence, WordMatch, WordMatches
from pipeline.ports import Vectors
from pipeline.resolve import canonical_key
from pipeline.retrieve import MAX_QUESTION_CHARS, extract_answer, read_question
from pipeline.retrieve.question import longest_phrases, split_words
from pipeline.retrieve.rank import Ranking, fuse, rank_matches


class WordEmbedder:
    """Gives each of a few words its own direction, so that similarity is shared words."""

    model_id = "test:words"
    vocabulary = ("founded", "founder", "lighthouse", "harbour", "opened", "bread", "other")
    dimension = len(vocabulary)

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = []
        for text in texts:
            words = split_words(text)
            counts = [float(words.count(word)) for word in self.vocabulary[:-1]]
            rows.append([*counts, 0.2])
        vectors = np.array(rows, dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def passage(identity: str, text: str) -> Evidence:
    return Evidence("passage", identity, text, 0.5)


@pytest.mark.parametrize("raw", ["", "   ", "\n\t", "\x00\x00", "???", "“”", "-", "||", "___", "\ud800", "🙂"])
def test_a_question_without_a_word_is_refused_with_a_reason(raw):
    with pytest.raises(QueryInvalid, match="empty"):
        read_question(raw)


def test_a_question_as_long_as_a_document_is_cut_from_its_first_word_on():
    question = read_question("why " * 25_000)
    assert question.cut
    assert question.text == ("why " * 1_000)
    late = read_question("?! " * 40_000 + "Who founded Acme?")
    assert late.cut
    assert late.words == ("founded", "acme")
    assert not read_question("a" * MAX_QUESTION_CHARS).cut


def test_a_long_text_without_a_word_is_refused():
    with pytest.raises(QueryInvalid, match="empty"):
        read_question("?! " * 40_000)


def test_stop_words_go_only_if_others_remain():
    assert read_question("Who is the founder of it?").words == ("founder",)
    assert read_question("Who is it?").words == ("who", "is", "it")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("user@example.com", ("user", "example", "com")),
        ("(draft", ("draft",)),
        ("C:\\windows", ("c", "windows")),
        ('"quoted', ("quoted",)),
        ("word|", ("word",)),
        ("100 % ~sure", ("100", "sure")),
        ("foo:bar {x} [1 2] =>", ("foo", "bar", "x", "1", "2")),
        ("foo-bar", ("foo", "bar")),
        ("-draft", ("draft",)),
        ("* lighthouse", ("lighthouse",)),
        ("@name:(mill) lamp*", ("name", "mill", "lamp")),
        ("snake_case", ("snake_case",)),
        ("हिन्दी भाषा", ("हिन्दी", "भाषा")),
        ("cafe\u0301", ("caf\u00e9",)),
        ("nul\x00byte", ("nulbyte",)),
    ],
)
def test_operators_of_an_index_are_punctuation(raw, words):
    assert read_question(raw).words == words


@given(st.text(max_size=300))
def test_words_never_hold_what_an_index_could_read_as_syntax(text):
    try:
        question = read_question(text)
    except QueryInvalid:
        return
    assert question.words
    for word in question.words:
        assert not set(word) & set(" \t\n,.<>{}[]\"':;!@#$%^&*()-+=~|\\/?`\x00")


def named(text: str, *names: str) -> list[str]:
    return [phrase.key for phrase in longest_phrases(read_question(text).phrases, {canonical_key(n) for n in names})]


def test_names_are_found_in_any_spelling_that_has_their_key():
    assert named("Where does ADA BELL work?", "Ada Bell") == ["ada bell"]
    assert named("Who owns the Fenwick Mill?", "Fenwick Mill") == ["fenwick mill"]
    assert named("What is Fenwick's revenue?", "Fenwick Ltd") == ["fenwick"]
    assert named("Who wrote “The Salt Road”?", "Salt Road") == ["salt road"]


def test_a_name_inside_a_longer_name_does_not_count():
    assert named("Is Ada Bell Marsh a poet?", "Ada Bell", "Bell", "Ada Bell Marsh") == ["ada bell marsh"]


def test_a_lone_word_without_a_capital_is_no_name_unless_nothing_is_capitalised():
    assert named("Did Ada bring bread?", "Bread") == []
    assert named("who sells bread?", "Bread") == ["bread"]


def test_fusing_prefers_what_several_searches_found_and_breaks_ties_by_id():
    fused = fuse([Ranking("a", 1.0, ["x", "y"]), Ranking("b", 1.0, ["y", "z"]), Ranking("c", 1.0, ["w"])])
    assert fused == [("y", ("a", "b")), ("w", ("c",)), ("x", ("a",)), ("z", ("b",))]


def test_two_searches_of_a_path_name_it_once_and_one_without_a_path_not_at_all():
    fused = fuse([Ranking("a", 1.0, ["x"], "one"), Ranking("a", 1.0, ["x"], "other"), Ranking("", 1.0, ["x", "y"])])
    assert fused == [("x", ("a",)), ("y", ())]


def test_a_weight_moves_a_ranking_but_not_its_order():
    light, heavy = Ranking("a", 1.0, ["x", "y"]), Ranking("b", 3.0, ["p", "q"])
    assert [identity for identity, _ in fuse([light, heavy])] == ["p", "q", "x", "y"]


def test_rare_words_and_short_passages_rank_higher():
    matches = WordMatches(
        100,
        {"lamp": 50, "astrolabe": 1},
        (
            WordMatch("common", "the lamp is a lamp", ("lamp",)),
            WordMatch("rare", "an astrolabe on a lamp", ("astrolabe", "lamp")),
            WordMatch("long", "lamp " + "and so on " * 50, ("lamp",)),
        ),
    )
    assert rank_matches(matches) == ["rare", "common", "long"]


def test_an_inflected_word_counts_once_and_no_match_ranks_nothing():
    matches = WordMatches(10, {"lamp": 2}, (WordMatch("b", "lamps", ("lamp",)), WordMatch("a", "lamps", ("lamp",))))
    assert rank_matches(matches) == ["a", "b"]
    assert rank_matches(WordMatches(0, {}, ())) == []


def test_a_word_in_every_passage_does_not_count_against_them():
    matches = WordMatches(2, {"lamp": 2}, (WordMatch("a", "lamp", ("lamp",)), WordMatch("b", "lamp lamp", ("lamp",))))
    assert rank_matches(matches) == ["b", "a"]


def test_the_answer_is_the_sentence_that_fits_with_the_place_of_its_evidence():
    evidence = [
        Evidence("fact", "f", "(Ada Bell, FOUNDED, Quay): Ada Bell founded the lighthouse.", 0.9),
        passage("1", "Bread is sold at the quay. The bakers come early on market days."),
        passage("2", "Harbour notes\n\nAda Bell founded the lighthouse in 1871. Bread was dear then."),
    ]
    answer = extract_answer("Who founded the lighthouse?", evidence, WordEmbedder())
    assert answer == [("Ada Bell founded the lighthouse in 1871.", 2)]


def test_there_is_no_answer_where_nothing_fits():
    evidence = [passage("1", "The bakers come early on market days.")]
    assert extract_answer("Who opened the harbour?", evidence, WordEmbedder()) == []
    assert extract_answer("Who opened the harbour?", [], WordEmbedder()) == []


def test_the_answer_is_found_behind_many_sentences_of_better_passages():
    long = " ".join(f"The bakers of street {number} sell their bread early." for number in range(60))
    evidence = [passage("1", long), passage("2", "Ada Bell founded the lighthouse in 1871.")]
    answer = extract_answer("Who founded the lighthouse?", evidence, WordEmbedder())
    assert answer == [("Ada Bell founded the lighthouse in 1871.", 1)]


def test_what_is_asked_counts_more_than_the_name_that_it_is_asked_of():
    text = "The Old Stone Harbour Lighthouse is a lighthouse by the harbour. Ada Bell founded it in 1871."
    question = "Who founded the Old Stone Harbour Lighthouse?"
    (sentence, _), *_ = extract_answer(question, [passage("1", text)], WordEmbedder())
    assert sentence == "Ada Bell founded it in 1871."


def test_headings_and_questions_are_no_answers():
    evidence = [
        passage("1", "Lighthouse founder\n\nWho founded the old lighthouse?\n\nAda Bell founded the lighthouse.")
    ]
    answer = extract_answer("Who founded the lighthouse?", evidence, WordEmbedder())
    assert answer == [("Ada Bell founded the lighthouse.", 0)]


def test_a_second_sentence_comes_only_if_it_fits_nearly_as_well_and_no_sentence_twice():
    text = "Ada Bell founded the lighthouse. Ada Bell was the founder who opened the lighthouse."
    answer = extract_answer("Who founded the lighthouse?", [passage("1", text), passage("2", text)], WordEmbedder())
    assert [index for _, index in answer] in ([0], [0, 0])
    assert len({sentence for sentence, _ in answer}) == len(answer)
