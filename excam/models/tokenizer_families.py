"""How each family of base models splits text, written down in full.

The documents are built field by field in the order their authors wrote them, so that the result has the SHA-256 of the
published ``tokenizer.json``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from excam.models.registry import Family
from excam.models.vocabulary import CONTROL, UNUSED, USER_DEFINED, Vocabulary

Json = dict[str, Any]

_QWEN_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_GEMMA_SPECIAL = frozenset(
    ("<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<end_of_image>")
)
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")


def _smollm2(vocabulary: Vocabulary) -> Json:
    control = [id for id, kind in enumerate(vocabulary.kinds) if kind == CONTROL]
    return _document(
        added=[_added(id, vocabulary.tokens[id], special=True) for id in control],
        normalizer=None,
        pre_tokenizer=_sequence(
            "pretokenizers",
            {"type": "Digits", "individual_digits": True},
            _byte_level(add_prefix_space=False, trim_offsets=True, use_regex=True),
        ),
        post_processor=None,
        decoder=_byte_level(add_prefix_space=True, trim_offsets=True, use_regex=True),
        model={
            **_bpe(unk_token=None, affix=None, fuse_unk=False, byte_fallback=False),
            "ignore_merges": False,
            "vocab": {token: id for id, token in enumerate(vocabulary.tokens)},
            "merges": vocabulary.merges,
        },
    )


def _qwen25(vocabulary: Vocabulary) -> Json:
    # Three generations of added tokens, each written by another tool: chat (special), vision (special), tool calls,
    # fill-in-the-middle and file marks (not special to their authors). The order of the flags shows only in the hash.
    vision, tools = vocabulary.tokens.index("<|object_ref_start|>"), vocabulary.tokens.index("<tool_call>")
    added = []
    for id, kind in enumerate(vocabulary.kinds):
        if kind in (CONTROL, USER_DEFINED):
            flags = _FLAGS if id < vision else ("normalized", "lstrip", "rstrip", "single_word")
            flags = flags if id < tools else ("lstrip", "normalized", "rstrip", "single_word")
            added.append(_added(id, vocabulary.tokens[id], special=id < tools, flags=flags))
    bytes_as_they_are = _byte_level(add_prefix_space=False, trim_offsets=False, use_regex=False)
    split = {"type": "Split", "pattern": {"Regex": _QWEN_SPLIT}, "behavior": "Isolated", "invert": False}
    return _document(
        added=added,
        normalizer={"type": "NFC"},
        pre_tokenizer=_sequence("pretokenizers", split, bytes_as_they_are),
        post_processor=bytes_as_they_are,
        decoder=bytes_as_they_are,
        model={
            **_bpe(unk_token=None, affix="", fuse_unk=False, byte_fallback=False),
            "vocab": {
                token: id
                for id, (token, kind) in enumerate(zip(vocabulary.tokens, vocabulary.kinds, strict=True))
                if kind not in (CONTROL, USER_DEFINED, UNUSED)
            },
            "merges": vocabulary.merges,
        },
    )


def _gemma3(vocabulary: Vocabulary) -> Json:
    # GGUF spells runs of spaces as text, the published vocabulary as it sees them after normalising.
    tokens = [token.replace(" ", "▁") for token in vocabulary.tokens]
    added = [
        _added(id, token, special=token in _GEMMA_SPECIAL)
        for id, (token, kind) in enumerate(zip(tokens, vocabulary.kinds, strict=True))
        if kind in (CONTROL, USER_DEFINED)
    ]
    bos = {"SpecialToken": {"id": "<bos>", "type_id": 0}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    second = [{"SpecialToken": {"id": "<bos>", "type_id": 1}}, {"Sequence": {"id": "B", "type_id": 1}}]
    return _document(
        added=[*added, _added(len(tokens), "<image_soft_token>", special=True)],
        normalizer={"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        pre_tokenizer={
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        },
        post_processor={
            "type": "TemplateProcessing",
            "single": [bos, text],
            "pair": [bos, text, *second],
            "special_tokens": {"<bos>": {"id": "<bos>", "ids": [tokens.index("<bos>")], "tokens": ["<bos>"]}},
        },
        decoder=_sequence(
            "decoders",
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
        ),
        model={
            **_bpe(unk_token="<unk>", affix=None, fuse_unk=True, byte_fallback=True),
            "ignore_merges": False,
            "vocab": {token: id for id, token in enumerate(tokens)},
            "merges": _merges_from_scores(tokens, vocabulary.kinds, vocabulary.scores),
        },
    )


def _merges_from_scores(tokens: list[str], kinds: list[int], scores: list[float]) -> list[list[str]]:
    """SentencePiece has scores instead of merges: every way to cut a token in two known ones, best score first."""
    ids = {token: id for id, token in enumerate(tokens)}
    ranked = []
    for token, kind, score in zip(tokens, kinds, scores, strict=True):
        if kind == CONTROL:
            continue
        cuts = [(token[:at], token[at:]) for at in range(1, len(token))]
        known = sorted((ids[left], ids[right]) for left, right in cuts if left in ids and right in ids)
        rank = 0.0 if kind == USER_DEFINED else score
        ranked += [(rank, len(tokens[left]), len(tokens[right]), left, right) for left, right in known]
    ranked.sort(key=lambda merge: merge[:3], reverse=True)
    return [[tokens[left], tokens[right]] for *_, left, right in ranked]


def _document(*, added: list[Json], model: Json, **stages: Json | None) -> Json:
    head: Json = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added}
    return {**head, **stages, "model": model}


def _added(id: int, content: str, *, special: bool, flags: tuple[str, ...] = _FLAGS) -> Json:
    return {"id": id, "content": content, **dict.fromkeys(flags, False), "special": special}


def _sequence(key: str, *steps: Json) -> Json:
    return {"type": "Sequence", key: list(steps)}


def _byte_level(*, add_prefix_space: bool, trim_offsets: bool, use_regex: bool) -> Json:
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": trim_offsets,
        "use_regex": use_regex,
    }


def _bpe(*, unk_token: str | None, affix: str | None, fuse_unk: bool, byte_fallback: bool) -> Json:
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": unk_token,
        "continuing_subword_prefix": affix,
        "end_of_word_suffix": affix,
        "fuse_unk": fuse_unk,
        "byte_fallback": byte_fallback,
    }


DOCUMENTS: dict[Family, Callable[[Vocabulary], Json]] = {"smollm2": _smollm2, "qwen2.5": _qwen25, "gemma3": _gemma3}
