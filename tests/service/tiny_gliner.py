"""GLiNER models of a few kilobytes with random weights: real files for the real loading code, made in no time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

SEEN = [chr(code) for code in range(33, 127)]
"""Every printable ASCII character is a token, at the start of a word and inside."""
POSITIONS = 256


def build_model(folder: Path, *, kind: str = "span", encoder: str = "relative", seed: int = 0) -> Path:
    """Save a model; `kind` is span or boundary, `encoder` relative or absolute (with so many positions)."""
    import torch
    from gliner2 import BoundaryExtractor, ExtractorConfig, SpanExtractor

    torch.manual_seed(seed)
    folder.mkdir(parents=True)
    model_class = {"span": SpanExtractor, "boundary": BoundaryExtractor}[kind]
    more: dict[str, Any] = {"counting_layer": "count_lstm_v2", "max_width": 8} if kind == "span" else {}
    config = ExtractorConfig(model_name=str(folder), architecture=kind, **more)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *SEEN, *(f"##{char}" for char in SEEN)]
    model = model_class(config, encoder_config=_encoder(encoder, len(vocabulary)), tokenizer=_tokenizer(vocabulary))
    model.save_pretrained(str(folder))
    return folder


def _encoder(encoder: str, words: int) -> Any:
    from transformers import BertConfig, DebertaV2Config

    size: dict[str, Any] = {
        "vocab_size": words, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 64, "max_position_embeddings": POSITIONS,
    }  # fmt: skip
    if encoder == "absolute":
        return BertConfig(**size)
    return DebertaV2Config(
        **size, relative_attention=True, position_biased_input=False, pos_att_type=["p2c", "c2p"], type_vocab_size=0
    )


def _tokenizer(vocabulary: Sequence[str]) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    pieces = models.WordPiece({piece: number for number, piece in enumerate(vocabulary)}, unk_token="[UNK]")
    tokenizer = Tokenizer(pieces)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
