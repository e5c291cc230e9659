import numpy as np
import pytest

from pipeline.embed import check_vectors, embed_distinct, text_hash
from pipeline.errors import EmbeddingInvalid


class LengthEmbedder:
    """Embeds a text by its length, and remembers what it was asked."""

    model_id = "test:length"
    dimension = 2

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        self.asked.append(list(texts))
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


class FixedEmbedder:
    """Returns the same vectors whatever it is asked."""

    model_id = "test:fixed"

    def __init__(self, vectors, dimension=2):
        self.vectors = vectors
        self.dimension = dimension

    def embed(self, _texts):
        return self.vectors


def test_each_distinct_text_is_embedded_once():
    embedder = LengthEmbedder()
    vectors = embed_distinct(embedder, ["a", "bb", "a", "bb", "a"])
    assert embedder.asked == [["a", "bb"]]
    assert vectors.shape == (5, 2)
    assert np.array_equal(vectors[0], vectors[4])
    assert not np.array_equal(vectors[0], vectors[1])


def test_vectors_come_back_with_unit_length():
    vectors = embed_distinct(LengthEmbedder(), ["a", "bb", "ccc"])
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_no_texts_need_no_model():
    embedder = LengthEmbedder()
    assert embed_distinct(embedder, []).shape == (0, 2)
    assert embedder.asked == []


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\) for 2 texts"),
        (np.ones((1, 2)), r"shape \(1, 2\) for 2 texts"),
        (np.ones(2), r"shape \(2,\)"),
        (np.array([[1, 1], [1, np.nan]]), "NaN or infinity for 1 of 2 texts, first 1"),
        (np.array([[np.inf, 1], [1, 1]]), "first 0"),
        (np.array([[1, 1], [0, 0]]), "zero vectors for 1 of 2 texts, first 1"),
    ],
)
def test_vectors_that_would_spoil_an_index_are_refused(vectors, message):
    with pytest.raises(EmbeddingInvalid, match=message) as caught:
        embed_distinct(FixedEmbedder(vectors), ["a", "b"])
    assert "test:fixed" in str(caught.value)


@pytest.mark.parametrize("dimension", [0, -1, 8193])
def test_a_width_that_cannot_be_stored_is_refused(dimension):
    with pytest.raises(EmbeddingInvalid, match="1 to 8192"):
        check_vectors(np.ones((1, 1), np.float32), 1, FixedEmbedder(None, dimension))


@pytest.mark.parametrize("dimension", [1, 8192])
def test_the_narrowest_and_the_widest_vectors_are_taken(dimension):
    vectors = embed_distinct(FixedEmbedder(np.full((1, dimension), 2.0), dimension), ["a"])
    assert vectors.shape == (1, dimension)


def test_the_text_hash_tells_texts_apart_and_stays_the_same():
    assert text_hash("Acme") == text_hash("Acme")
    assert text_hash("Acme") != text_hash("acme")
    assert len(text_hash("")) == 32
