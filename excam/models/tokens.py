"""Tokenizers, and the guard between a log's text and a prompt's control tokens."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from excam.fault import UserError

# Added tokens that are ordinary text: runs of white space and Gemma's HTML tags. Every other added token is control.
_PLAIN = re.compile(
    r"[\s▁]+|</?(a|b|bbox|blockquote|body|caption|code|div|em|footer|h[1-6]|html|i|iframe|img|li|s|span|strong|sub|sup"
    r"|table|tbody|td|tfoot|th|thead|tr|u|ul)>"
)


@dataclass(frozen=True)
class _DataEncoder:
    """The same tokenizer without its control tokens: which ids those are, and which others were counted anew."""

    backend: Any
    control: dict[int, str]
    renumbered: dict[int, int]

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.backend.encode(text, add_special_tokens=False).ids
        return [self.renumbered.get(id, id) for id in ids] if self.renumbered else ids


_encoders: WeakKeyDictionary[Any, _DataEncoder] = WeakKeyDictionary()


def load_tokenizer(path: Path | str) -> Any:
    """The folder's tokenizer as a transformers fast tokenizer. Nothing is fetched and no code of the folder runs.

    ``tokenizer.json`` is taken as it stands where there is one: AutoTokenizer would rebuild some families from parts,
    and import torch to do so.
    """
    if (Path(path) / "tokenizer.json").is_file():
        from transformers import PreTrainedTokenizerFast as Loader
    else:
        from transformers import AutoTokenizer as Loader
    try:
        tokenizer = Loader.from_pretrained(str(path), local_files_only=True, trust_remote_code=False)
    except Exception as problem:  # a broken file is told by whatever its parts run into, up to a bare Exception
        raise UserError(f"the tokenizer in {path} cannot be read: {problem!r}", "copy its files again") from problem
    if not tokenizer.is_fast:
        raise UserError(
            f"the tokenizer in {path} has no tokenizer.json form",
            "save it once with transformers: AutoTokenizer.from_pretrained(…, use_fast=True).save_pretrained(FOLDER)",
        )
    if not tokenizer.chat_template:
        raise UserError(f"the tokenizer in {path} has no chat template", "add one, or use an instruction-tuned model")
    return tokenizer


def encode_text_as_data(tokenizer: Any, text: str) -> list[int]:
    """Token ids of logged text, none of which is a control token, whatever the text spells out.

    Turning off special tokens is not enough: tokens such as Qwen's ``<tool_call>`` and ``<|fim_prefix|>`` are added
    without being marked special. So control tokens are taken out of a copy of the tokenizer; all other text gives the
    ids of ``tokenizer(text, add_special_tokens=False)``. Lone surrogates become U+FFFD.
    """
    encoder = _encoders.get(tokenizer)
    if encoder is None:
        encoder = _encoders[tokenizer] = _data_encoder(tokenizer)
    sound = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    ids = encoder.encode(sound)
    if encoder.control.keys().isdisjoint(ids):
        return ids
    # Merges cannot build a control token, but a unigram model finds it as a word of its vocabulary: spell it instead.
    return [part for id in ids for part in _spelled(id, encoder)]


def control_tokens(tokenizer: Any) -> dict[int, str]:
    """The tokens that only a prompt template may use, by id."""
    added = json.loads(tokenizer.backend_tokenizer.to_str())["added_tokens"]
    return {token["id"]: token["content"] for token in added if _is_control(token)}


def _is_control(token: dict[str, Any]) -> bool:
    return bool(token["special"]) or not _PLAIN.fullmatch(token["content"])


def _data_encoder(tokenizer: Any) -> _DataEncoder:
    from tokenizers import Tokenizer

    document = json.loads(tokenizer.backend_tokenizer.to_str())
    plain = [token for token in document["added_tokens"] if not _is_control(token)]
    document |= {"added_tokens": plain, "truncation": None, "padding": None, "post_processor": None}
    backend = Tokenizer.from_str(json.dumps(document))
    numbers = backend.get_added_tokens_decoder()
    old_ids = {token["content"]: token["id"] for token in plain}
    renumbered = {new: old_ids[token.content] for new, token in numbers.items() if new != old_ids[token.content]}
    return _DataEncoder(backend, control_tokens(tokenizer), renumbered)


def _spelled(id: int, encoder: _DataEncoder) -> list[int]:
    if id not in encoder.control:
        return [id]
    return [part for letter in encoder.control[id] for part in encoder.encode(letter)]
