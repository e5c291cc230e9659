"""What GLiNER is given of long passages and asked of an ontology, and what becomes of its answers; without a model."""

import re
from itertools import pairwise

import pytest

from pipeline.adapters.gliner import GlinerExtractor, files
from pipeline.adapters.gliner.answers import compose
from pipeline.adapters.gliner.files import find_folder, identify_model
from pipeline.adapters.gliner.prompts import write_prompts
from pipeline.adapters.gliner.windows import Window, Word, cut_windows, pieces
from pipeline.config import GlinerConfig
from pipeline.errors import ModelOutputInvalid, ModelUnavailable
from pipeline.extract import ground
from pipeline.ontology import EntityType, Ontology, RelationType

ONTOLOGY = Ontology(
    entity_types=(EntityType(label="Person", description="A human being."), EntityType(label="ORG_UNIT")),
    relation_types=(
        RelationType(label="WORKS_FOR", description="is employed by: a unit"),
        RelationType(label="entities"),
    ),
)
PROMPTS = write_prompts(ONTOLOGY)


def split(text, tokens=1):
    return [Word(m.start(), m.end(), tokens) for m in re.finditer(r"\w+|[^\w\s]", text)]


def cut(text, max_words=20, max_tokens=1_000, tokens=1):
    return list(cut_windows(text, split(text, tokens), max_words, max_tokens))


def span(text, name, score=0.9, offset=0):
    start = text.index(name) - offset
    return {"text": name, "confidence": score, "start": start, "end": start + len(name)}


def whole(text):
    return Window(0, len(text), is_cut_before=False, is_cut_after=False)


def names(extraction):
    return [(mention.name, mention.type) for mention in extraction.mentions]


# windows


def test_a_passage_that_fits_is_one_window_without_cuts():
    assert cut("Ada Quill met Bram Oster.") == [Window(0, 25, is_cut_before=False, is_cut_after=False)]
    assert cut("  \n ") == []


@pytest.mark.parametrize("max_words", [1, 2, 3, 7, 20, 384])
@pytest.mark.parametrize("max_tokens", [2, 5, 64])
def test_windows_cover_every_word_within_both_limits_and_come_to_an_end(max_words, max_tokens):
    text = "Ada Quill, of the Larkspur works in Bergen, met Bram Oster. He left.\nThe end of it " * 8
    words = split(text, tokens=2)
    windows = list(cut_windows(text, words, max_words, max_tokens))
    covered = set()
    for window in windows:
        inside = [w for w in words if window.start <= w.start and w.end <= window.end]
        assert len(inside) <= max_words
        assert sum(w.tokens for w in inside) <= max_tokens
        assert (window.start, window.end) == (inside[0].start, inside[-1].end)
        covered |= {w.start for w in inside}
    assert covered == {w.start for w in words}
    assert [w.start for w in windows] == sorted({w.start for w in windows})
    assert [w.is_cut_before for w in windows] == [False] + [True] * (len(windows) - 1)
    assert [w.is_cut_after for w in windows] == [True] * (len(windows) - 1) + [False]


def test_windows_share_more_words_than_a_long_name_has():
    text = " ".join(f"w{i}" for i in range(100))
    windows = cut(text, max_words=40)
    for before, after in pairwise(windows):
        assert len(text[after.start : before.end].split()) >= 8


def test_a_window_ends_with_a_sentence_that_ends_near_its_limit():
    text = ("one two three four five six seven eight nine ten eleven twelve thirteen fourteen. " * 3).strip()
    first = cut(text, max_words=18)[0]
    assert text[first.start : first.end].endswith("fourteen.")
    line = text.replace("fourteen. ", "fourteen\n")
    first = cut(line, max_words=17)[0]
    assert line[first.start : first.end].endswith("fourteen")


def test_a_word_too_long_for_any_window_is_cut_into_pieces_that_fit():
    found = list(pieces(3, 103, 64))
    assert found[0] == (3, 19)
    assert found[-1][1] == 103
    assert all(a[1] == b[0] for a, b in pairwise(found))
    assert all(end - start <= 16 for start, end in found)


def test_a_name_at_a_cut_may_be_half_a_name():
    middle = Window(10, 50, is_cut_before=True, is_cut_after=True)
    assert [middle.sees_whole(*at) for at in [(10, 15), (11, 15), (40, 50), (40, 49)]] == [False, True, False, True]
    assert Window(0, 50, is_cut_before=False, is_cut_after=False).sees_whole(0, 50)


# prompts


def test_types_are_asked_for_in_words_and_found_again_by_either_form_of_their_key():
    assert dict(PROMPTS.entities) == {"Person": "A human being.", "org unit": ""}
    assert dict(PROMPTS.relations) == {"works_for": "is employed by: a unit", "entities_": ""}
    assert PROMPTS.labels["org unit"] == "ORG_UNIT"
    assert PROMPTS.relation_of("works_for") == "WORKS_FOR"
    assert PROMPTS.relation_of("works_for: is employed by: a unit") == "WORKS_FOR"
    assert PROMPTS.relation_of("entities_") == "entities"
    assert PROMPTS.relation_of("entities") is None


# answers

TEXT = "Ada Quill of the Larkspur works pays Bram Oster. Bram Oster left"


def test_mentions_carry_type_offsets_and_score_and_relations_the_span_between_their_ends():
    answer = {
        "entities": {
            "Person": [span(TEXT, "Bram Oster", 0.812345), span(TEXT, "Ada Quill")],
            "org unit": [span(TEXT, "Larkspur works")],
        },
        "relation_extraction": {
            "works_for": [],
            "works_for: is employed by: a unit": [
                {"head": span(TEXT, "Bram Oster"), "tail": span(TEXT, "the Larkspur works")}
            ],
        },
    }
    found = compose(TEXT, [(whole(TEXT), answer)], PROMPTS)
    assert names(found) == [("Ada Quill", "Person"), ("Larkspur works", "ORG_UNIT"), ("Bram Oster", "Person")]
    assert all(TEXT[m.start : m.end] == m.name for m in found.mentions)
    assert found.mentions[2].score == 0.8123
    (relation,) = found.relations
    assert (relation.source, relation.type, relation.target) == ("Bram Oster", "WORKS_FOR", "Larkspur works")
    assert (relation.source_type, relation.target_type) == ("Person", "ORG_UNIT")
    assert TEXT[relation.start : relation.end] == "Larkspur works pays Bram Oster"
    assert len(ground(TEXT, found, ONTOLOGY).relations) == 1


def test_names_do_not_overlap_across_types_and_the_better_score_wins_then_the_longer_name():
    answer = {
        "entities": {
            "Person": [span(TEXT, "Quill of", 0.6), span(TEXT, "Larkspur", 0.8)],
            "org unit": [span(TEXT, "Ada Quill", 0.7), span(TEXT, "Larkspur works", 0.8)],
        }
    }
    assert names(compose(TEXT, [(whole(TEXT), answer)], PROMPTS)) == [
        ("Ada Quill", "ORG_UNIT"),
        ("Larkspur works", "ORG_UNIT"),
    ]


def test_windows_find_a_name_once_with_its_best_score_and_whole():
    first = Window(0, TEXT.index(" pays"), is_cut_before=False, is_cut_after=True)
    second = Window(TEXT.index("works"), len(TEXT), is_cut_before=True, is_cut_after=False)
    third = Window(TEXT.index("Larkspur"), len(TEXT), is_cut_before=True, is_cut_after=False)
    answers = [
        (first, {"entities": {"Person": [span(TEXT, "Ada Quill", 0.6), span(TEXT, "Larkspur works", 0.99)]}}),
        (second, {"entities": {"Person": [span(TEXT, "Bram Oster", 0.7, offset=second.start)]}}),
        (third, {"entities": {"Person": [span(TEXT, "Bram Oster", 0.8, offset=third.start)]}}),
    ]
    found = compose(TEXT, answers, PROMPTS)
    assert [(m.name, m.score) for m in found.mentions] == [("Ada Quill", 0.6), ("Bram Oster", 0.8)]


def test_the_full_stop_that_the_model_adds_is_in_no_name():
    text = "Ada Quill met Bram Oster"
    answer = {"entities": {"Person": [{"confidence": 0.9, "start": 14, "end": 25}], "org unit": []}}
    answer["entities"]["org unit"].append({"confidence": 0.8, "start": 24, "end": 25})
    assert names(compose(text, [(whole(text), answer)], PROMPTS)) == [("Bram Oster", "Person")]


def test_a_relation_whose_end_is_no_mention_is_counted_when_grounded_and_one_of_that_name_is_taken():
    text = "Ada Quill knows Cleo Farr, and Ada Quill hired Bram Oster"
    later = {"text": "Ada Quill", "confidence": 0.9, "start": 31, "end": 40}
    answer = {
        "entities": {"Person": [span(text, "Ada Quill")], "org unit": [span(text, "Bram Oster")]},
        "relation_extraction": {
            "works_for": [
                {"head": later, "tail": span(text, "Cleo Farr")},
                {"head": span(text, "Bram Oster", 0.6), "tail": later},
                {"head": span(text, "Bram Oster", 0.7), "tail": span(text, "Ada Quill")},
            ]
        },
    }
    found = compose(text, [(whole(text), answer)], PROMPTS)
    assert [(r.source, r.target) for r in found.relations] == [("Ada Quill", "Cleo Farr"), ("Bram Oster", "Ada Quill")]
    assert ground(text, found, ONTOLOGY).dropped == {"unknown_end": 1}


@pytest.mark.parametrize("answer", [{"dummy": {}}, {"entities": {}, "relation_extraction": {"owns": []}}])
def test_what_answers_another_question_is_no_silent_nothing(answer):
    with pytest.raises(ModelOutputInvalid, match="GLiNER gave"):
        compose(TEXT, [(whole(TEXT), answer)], PROMPTS)


# files


def test_a_model_is_a_folder_where_it_is_spelt_as_a_path_or_lies_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_folder("fastino/gliner2-base-v1") is None
    for path in ("./model", "/models/a", "models/a/b", "~/model"):
        assert find_folder(path) is not None
    (tmp_path / "mine").mkdir()
    assert find_folder("mine") is not None


def test_folders_are_told_apart_by_what_decides_a_result_wherever_they_lie(tmp_path):
    def make(name, **files):
        folder = tmp_path / name
        folder.mkdir()
        for file, content in {"config.json": "{}", "model.safetensors": "weights", **files}.items():
            (folder / file).write_text(content, "utf-8")
        return identify_model(str(folder))

    first = make("first")
    assert make("copy", **{"README.md": "Read me."}) == first
    others = {make("other", **{"model.safetensors": "Weights"}), make("third", **{"config.json": '{"a": 1}'})}
    assert len(others | {first}) == 3
    assert identify_model("fastino/gliner2-base-v1") == "fastino/gliner2-base-v1"


def test_without_its_packages_the_extractor_says_what_to_install(monkeypatch):
    monkeypatch.setattr(files, "find_spec", lambda name: None if name == "torch" else object())
    with pytest.raises(
        ModelUnavailable, match=r"needs torch, not installed here; run: pip install 'graphmill\[gliner\]'"
    ):
        GlinerExtractor(GlinerConfig())
    assert not files.is_installed()


def test_a_folder_that_holds_no_model_is_refused_at_once_with_the_fix(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "find_spec", lambda name: object())
    (tmp_path / "empty").mkdir()
    for folder, problem in {"nowhere": "no such folder", "empty": "lacks config.json"}.items():
        with pytest.raises(ModelUnavailable, match=f"{folder}.*{problem}.*GRAPHMILL_GLINER__MODEL"):
            GlinerExtractor(GlinerConfig(model=str(tmp_path / folder)))
    assert GlinerExtractor(GlinerConfig(model="fastino/gliner2-base-v1")), "a hub is asked when the first text is read"
