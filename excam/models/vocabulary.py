"""The vocabulary inside a GGUF file: all that is needed to rebuild the model's tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

NORMAL, CONTROL, USER_DEFINED, UNUSED = 1, 3, 4, 5


@dataclass(frozen=True)
class Vocabulary:
    """Tokens by id with their kinds (the GGUF constants above), and merges (BPE) or scores (SentencePiece)."""

    tokens: list[str]
    kinds: list[int]
    merges: list[str]
    scores: list[float]
    chat_template: str | None


def read_vocabulary(gguf: Path) -> Vocabulary:
    """Read the tokenizer's part of the file's head; the weights are not touched."""
    from gguf import GGUFReader

    fields = GGUFReader(gguf).fields

    def field(name: str, default: Any) -> Any:
        return fields[name].contents() if name in fields else default

    return Vocabulary(
        tokens=field("tokenizer.ggml.tokens", []),
        kinds=field("tokenizer.ggml.token_type", []),
        merges=field("tokenizer.ggml.merges", []),
        scores=field("tokenizer.ggml.scores", []),
        chat_template=field("tokenizer.chat_template", None),
    )
