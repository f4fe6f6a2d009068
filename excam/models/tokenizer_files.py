"""Rebuild a model's published tokenizer from the vocabulary in its GGUF file.

GGUF keeps tokens and merges but not how text is normalised and split before them, and general converters guess: Qwen
loses NFC and gains 271 PAD tokens, SmolLM2 loses its one-digit-a-token rule, Gemma forgets BOS. So each family's rules
are written down in full, and ``tokenizer.json`` is written as its authors wrote it: its SHA-256 then equals that of the
published file, which proves more than any probe of token ids could.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from excam.models.registry import Family, TokenizerPin
from excam.models.tokenizer_families import DOCUMENTS, Json
from excam.models.vocabulary import Vocabulary

# The base model brings no template; this is the turn format of its instruction-tuned sisters.
_GEMMA_TEMPLATE = """\
{{- bos_token -}}
{%- set turns = messages -%}
{%- set preface = '' -%}
{%- if messages[0]['role'] == 'system' -%}
  {%- set preface = messages[0]['content'] + '\n\n' -%}
  {%- set turns = messages[1:] -%}
{%- endif -%}
{%- for turn in turns -%}
  {{- '<start_of_turn>' + ('model' if turn['role'] == 'assistant' else turn['role']) + '\n' -}}
  {{- (preface if loop.first else '') + (turn['content'] | trim) + '<end_of_turn>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<start_of_turn>model\n' -}}{%- endif -%}
"""

_TOKENS: dict[Family, Json] = {
    "smollm2": {
        "bos_token": "<|im_start|>",
        "eos_token": "<|im_end|>",
        "pad_token": "<|im_end|>",
        "unk_token": "<|endoftext|>",
        "model_max_length": 8192,
    },
    "qwen2.5": {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "model_max_length": 32768},
    "gemma3": {
        "bos_token": "<bos>",
        "eos_token": "<eos>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
        "model_max_length": 32768,
    },
}
# Besides eos_token: what else ends an answer.
STOPS: dict[Family, tuple[str, ...]] = {
    "smollm2": (),
    "qwen2.5": ("<|endoftext|>",),
    "gemma3": ("<end_of_turn>",),
}


def write_tokenizer(vocabulary: Vocabulary, pin: TokenizerPin, folder: Path) -> None:
    """Write ``tokenizer.json``, ``tokenizer_config.json`` and ``chat_template.jinja``; a drift is a fault."""
    text = json.dumps(DOCUMENTS[pin.family](vocabulary), indent=2, ensure_ascii=False)
    data = text.encode()
    found = hashlib.sha256(data).hexdigest()
    if pin.sha256 not in (None, found):
        raise RuntimeError(f"rebuilt {pin.family} tokenizer has SHA-256 {found}, the published one {pin.sha256}")
    template = vocabulary.chat_template or (_GEMMA_TEMPLATE if pin.family == "gemma3" else None)
    if template is None:
        raise RuntimeError(f"the GGUF file of a {pin.family} model brings no chat template")
    (folder / "tokenizer.json").write_bytes(data)
    (folder / "chat_template.jinja").write_text(template, "utf-8")
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        **_TOKENS[pin.family],
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2), "utf-8")
