"""GLiNER's real loading and reading, with models of random weights: they find nonsense, but by the real code."""

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from pipeline.adapters.gliner import GlinerExtractor
from pipeline.adapters.gliner.model import load_model
from pipeline.config import GlinerConfig
from pipeline.errors import ModelUnavailable, PromptTooLong
from pipeline.extract import extract, ground
from pipeline.ids import normalise_name
from pipeline.ontology import EntityType, Ontology, RelationType

pytestmark = pytest.mark.gliner

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ONTOLOGY = Ontology(
    entity_types=(EntityType(label="Person", description="A human being."), EntityType(label="COMPANY")),
    relation_types=(
        RelationType(label="WORKS_FOR", description="is employed by: a company"),
        RelationType(label="knows"),
    ),
)
SENTENCE = "Marta Keller founded Nordlicht Systems in Bergen, and Halvorsen Group of Oslo hired Cleo Farr in 1998. "
TEXTS = [
    SENTENCE.strip(),
    "",
    "  \n\n ",
    "no names here, only words",
    "Marta Keller.",
    "東京は日本の首都である。 \U0001f600 Café Müller stands in Łódź",
    "(((([[[[ **Bold Title** | a | b |\n|---|---|\n| Nordlicht Systems | Bergen |",
    SENTENCE * 24,
]


@pytest.fixture(scope="module", autouse=True)
def offline(tmp_path_factory):
    """No hub: it may not be asked, and nothing lies in its cache; read by its client when that is imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hub")))
        yield


@pytest.fixture(scope="module")
def make_model(offline, tmp_path_factory):
    """Builds tiny models."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        from tiny_gliner import build_model

        yield lambda **given: build_model(tmp_path_factory.mktemp("models") / "tiny", **given)


@pytest.fixture(scope="module", params=["span relative", "span absolute", "boundary relative"])
def folder(request, make_model):
    """Models of either architecture, over encoders without and with a limit of their own."""
    kind, encoder = request.param.split()
    return make_model(kind=kind, encoder=encoder)


def extractor(folder, threshold=0.3):
    return GlinerExtractor(GlinerConfig(model=str(folder), threshold=threshold))


def test_building_an_extractor_and_telling_its_fingerprint_load_nothing(make_model):
    code = (
        "import sys; from pipeline.adapters.gliner import GlinerExtractor; from pipeline.config import GlinerConfig;"
        f"print(GlinerExtractor(GlinerConfig(model={str(make_model())!r})).fingerprint);"
        "print([name for name in ('torch', 'gliner2', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    fingerprint, loaded = done.stdout.split("\n")[:2]
    assert len(fingerprint) == 32
    assert loaded == "[]"


def test_results_run_parallel_to_the_texts_and_blank_ones_say_nothing(folder):
    found = extractor(folder).extract(TEXTS, ONTOLOGY)
    assert [bool(one.mentions) for one in found][:3] == [True, False, False]
    assert len(found) == len(TEXTS)
    assert extractor(folder).extract([], ONTOLOGY) == []


def test_results_do_not_depend_on_batch_mates(folder):
    reader = extractor(folder)
    together = reader.extract(TEXTS, ONTOLOGY)
    alone = [reader.extract([text], ONTOLOGY)[0] for text in TEXTS]
    backwards = reader.extract(TEXTS[::-1], ONTOLOGY)[::-1]
    assert together == alone == backwards


def test_mentions_stand_where_they_say_do_not_overlap_and_have_declared_types(folder):
    for text, found in zip(TEXTS, extractor(folder).extract(TEXTS, ONTOLOGY), strict=True):
        assert all(text[m.start : m.end] == m.name for m in found.mentions)
        assert all(a.end <= b.start for a, b in pairwise(found.mentions))
        assert {m.type for m in found.mentions} <= {"Person", "COMPANY"}
        assert all(0.3 <= m.score <= 1 for m in found.mentions)
        kept = ground(text, found, ONTOLOGY)
        assert {(m.start, m.end) for m in kept.mentions} <= {(m.start, m.end) for m in found.mentions}
        assert "not_in_text" not in kept.dropped


def test_relations_have_declared_types_whatever_the_model_calls_them_and_a_span(folder):
    texts = [SENTENCE.strip(), SENTENCE * 24]
    found = extractor(folder).extract(texts, ONTOLOGY)
    relations = [(text, r) for text, one in zip(texts, found, strict=True) for r in one.relations]
    assert relations
    for text, relation in relations:
        assert relation.type in {"WORKS_FOR", "knows"}
        evidence = normalise_name(text[relation.start : relation.end])
        assert normalise_name(relation.source) in evidence
        assert normalise_name(relation.target) in evidence


def test_without_declared_relations_none_are_asked_for(folder):
    (found,) = extract([SENTENCE * 2], extractor(folder), Ontology(entity_types=ONTOLOGY.entity_types))
    assert found.mentions
    assert found.relations == ()


def test_a_long_passage_is_read_to_its_end(folder):
    words = [f"Name{number}" for number in range(900)]
    text = " ".join(words)
    (found,) = extractor(folder, threshold=0.05).extract([text], ONTOLOGY)
    named = {word for mention in found.mentions for word in mention.name.split()}
    read = [number for number, word in enumerate(words) if word in named]
    assert read[-1] > 890
    assert max(b - a for a, b in pairwise(read)) < 100


def test_an_encoder_with_a_limit_is_never_given_more(make_model):
    folder = make_model(encoder="absolute")
    raw = load_model(str(folder))._model
    with pytest.raises((IndexError, RuntimeError)):
        raw.batch_extract([SENTENCE * 10], raw.create_schema().entities(["person"]))
    blob = "Q" * 5_000
    (found,) = extractor(folder).extract([f"{blob} {SENTENCE * 10}"], ONTOLOGY)
    assert any(re.search("Oslo|Bergen|Keller", mention.name) for mention in found.mentions)


def test_an_ontology_that_leaves_no_room_for_text_is_named_as_the_reason(make_model):
    wordy = Ontology(entity_types=(EntityType(label="Person", description="A human being, " * 40),))
    with pytest.raises(PromptTooLong, match=r"take [0-9]+ of the 254 tokens .* shorten descriptions"):
        extractor(make_model(encoder="absolute")).extract([SENTENCE], wordy)


def test_a_process_loads_a_model_once_and_its_threads_take_turns(make_model):
    folder = make_model(seed=3)
    texts = [f"{SENTENCE}{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as threads:
        models = list(threads.map(lambda _: load_model(str(folder)), range(8)))
        found = list(threads.map(lambda text: extractor(folder).extract([text], ONTOLOGY)[0], texts))
    assert len(set(map(id, models))) == 1
    assert found == extractor(folder).extract(texts, ONTOLOGY)


def test_the_threshold_decides_what_is_found(make_model):
    folder = make_model(seed=5)
    scores = [m.score for m in extractor(folder, 0.05).extract([SENTENCE], ONTOLOGY)[0].mentions]
    assert scores
    assert extractor(folder, 0.999).extract([SENTENCE], ONTOLOGY)[0].mentions == ()


def test_the_fingerprint_tells_weights_and_threshold_apart_wherever_the_folder_lies(make_model, tmp_path):
    first = make_model(seed=1)
    copy = shutil.copytree(first, tmp_path / "copy")
    assert extractor(copy).fingerprint == extractor(first).fingerprint
    others = {extractor(make_model(seed=2)).fingerprint, extractor(first, 0.4).fingerprint}
    assert len(others | {extractor(first).fingerprint}) == 3


def test_a_hubs_model_that_cannot_be_had_is_named_with_the_fix():
    name = "fastino/gliner2-base-v1"
    with pytest.raises(ModelUnavailable) as caught:
        extractor(name).extract([SENTENCE], ONTOLOGY)
    assert f"GLiNER model {name!r} cannot be loaded" in str(caught.value)
    assert "give a local folder in GRAPHMILL_GLINER__MODEL, or download it once" in str(caught.value)


@pytest.mark.parametrize("damage", ["weights", "config", "tokenizer"])
def test_a_damaged_folder_is_named_with_the_fix(damage, make_model):
    folder = make_model()
    file = {"weights": "model.safetensors", "config": "config.json", "tokenizer": "tokenizer.json"}[damage]
    (folder / file).write_bytes((folder / file).read_bytes()[:100])
    with pytest.raises(ModelUnavailable, match=r"cannot be loaded \(\w+: .*GRAPHMILL_GLINER__MODEL"):
        extractor(folder).extract([SENTENCE], ONTOLOGY)
    with pytest.raises(ModelUnavailable):
        extractor(folder).extract([SENTENCE], ONTOLOGY)
