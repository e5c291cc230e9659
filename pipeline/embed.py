"""Embeds texts: each distinct one once, and nothing unusable gets through."""

from collections.abc import Sequence

from pipeline.errors import EmbeddingInvalid
from pipeline.ids import fingerprint
from pipeline.ports import Embedder, Vectors

MAX_DIMENSION = 8192
"""Widest vector that is taken; the GraphRAG SDK's limit too."""
_STORED_DECIMALS = 4


def embed_distinct(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Embed texts, each distinct one once: float32, shape (len(texts), dimension), unit length.

    Raises `EmbeddingInvalid` as `check_vectors` does, and what the embedder raises.
    """
    import numpy as np

    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    if not places:
        return np.zeros((0, embedder.dimension), dtype=np.float32)
    vectors = np.asarray(embedder.embed(list(places)), dtype=np.float32)
    check_vectors(vectors, len(places), embedder)
    # An embedder of the user's own may leave lengths to us; indexes and thresholds rely on them.
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: Vectors = vectors[[places[text] for text in texts]]
    return rows


def round_stored(vectors: Vectors) -> Vectors:
    """Round vectors as they are stored: their text is what a graph server spends its time on.

    The error is 3e-5 (RMS) in a number, and in the cosine with a question: less than what separates any two hits
    worth telling apart.
    """
    return vectors.round(_STORED_DECIMALS)


def check_vectors(vectors: Vectors, count: int, embedder: Embedder) -> None:
    """Refuse vectors that would spoil an index: wrong number or width, NaN, infinite, zero.

    Args:
        vectors: What the embedder returned, shape (count, dimension).
        count: How many texts it was given.
        embedder: Names the model in messages and says the width.

    Raises:
        EmbeddingInvalid: With the model, what is wrong, and the first text's position.
    """
    import numpy as np

    check_width(embedder)
    model, width = embedder.model_id, embedder.dimension
    if vectors.shape != (count, width):
        raise EmbeddingInvalid(f"{model} returned shape {vectors.shape} for {count} texts, not {(count, width)}")
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        raise EmbeddingInvalid(f"{model} returned NaN or infinity for {bad.size} of {count} texts, first {bad[0]}")
    zero = np.flatnonzero(~vectors.any(axis=1))
    if zero.size:
        raise EmbeddingInvalid(f"{model} returned zero vectors for {zero.size} of {count} texts, first {zero[0]}")


def check_width(embedder: Embedder) -> None:
    """Refuse vectors of a width that no index takes; raises `EmbeddingInvalid`."""
    if not 1 <= embedder.dimension <= MAX_DIMENSION:
        raise EmbeddingInvalid(
            f"{embedder.model_id} says it is {embedder.dimension} wide; 1 to {MAX_DIMENSION} can be stored"
        )


def same_model(one: str, other: str) -> bool:
    """Tell whether two names mean one model: the provider before the first `/` counts where both name one.

    The GraphRAG SDK records `azure/x` for what another of its clients calls `x`.
    """
    if "/" in one and "/" in other:
        return one == other
    return one.rpartition("/")[2] == other.rpartition("/")[2]


def text_hash(text: str) -> str:
    """Hash the text that a vector was made of (32 hex digits), to tell later whether it still fits."""
    return fingerprint((text,))
