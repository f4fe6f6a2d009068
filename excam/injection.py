"""Text that speaks to its judge: marked before it is judged, so that a clean verdict on it can be looked at twice.

A judge reads logged text as data, and control tokens spelled out in it never act as such (``excam.models.tokens``), but
no model is deaf to orders. What cannot be prevented is made visible: these marks stand in the pair's metadata.
"""

from __future__ import annotations

import re
from unicodedata import normalize

LOOKED_AT = 100_000  # characters at either end of a text; the judge itself sees fewer
METADATA_KEY = "speaks_to_judge"

# What a mark is called, words of which one must be there for the pattern to be tried at all, and the pattern.
_PATTERNS: tuple[tuple[str, str, str], ...] = (
    ("control_token", "<", r"<\|[a-z0-9_]{2,40}\|>|</?(?:start_of_turn|end_of_turn|bos|eos|s|tool_call|think)>"),
    ("control_token", "inst] sys>>", r"\[/?inst\]|<</?sys>>"),
    ("report", "errors", r"""["']errors["']\s*:\s*(?:\[|null|none)"""),
    ("prompt", "judge", r"please judge the following instruction|metric that judges the cultural"),
    ("prompt", "json", r"return an error report in json"),
    (
        "order",
        "ignore disregard forget override",
        r"(?:ignore|disregard|forget|override)\b.{0,40}\b(?:above|previous|prior|preceding|earlier|before|instructions?)",
    ),
    (
        "order",
        "error",
        r"(?:return|report|list|output|answer|respond|write|say|find|flag|judge|metric|evaluator)\w*\b.{0,60}"
        r"\b(?:no|zero|without|free of|any)\b.{0,12}\berrors?",
    ),
    ("order", "now", r"you are now\b.{0,200}\b(?:error|correct|report|judge)"),
    ("order", "abaikan lupakan", r"(?:abaikan|lupakan)\b.{0,60}\b(?:di atas|sebelumnya|kesalahan)"),
    ("order", "ignora olvida", r"(?:ignora|olvida)\w*\b.{0,40}\b(?:anterior\w*|arriba)"),
    ("order", "ignorez oubliez", r"(?:ignorez|oubliez)\b.{0,40}(?:ci-dessus|préc[éè]d)"),
    ("order", "ignorier vergiss", r"(?:ignorier|vergiss)\w*\b.{0,40}\b(?:obige|bisherige|vorherige)"),
    ("order", "игнорируй забудь", r"(?:игнорируй|забудь)\w*.{0,40}(?:выше|предыдущ)"),
    ("order", "無視 忽略 无视", r"(?:以上|上記|前述|之前|上面).{0,12}(?:無視|忽略|无视)"),
    ("order", "無視 忽略 无视", r"(?:無視|忽略|无视).{0,12}(?:以上|上述|之前|上面|上記)"),
    ("order", "تجاهل", r"تجاهل.{0,30}(?:سبق|أعلاه|السابق)"),
    ("order", "무시", r"(?:위|이전).{0,12}무시"),
    ("order", "अनदेखा नज़रअंदाज़", r"ऊपर.{0,30}(?:अनदेखा|नज़रअंदाज़)"),
    ("order", "yok görmezden", r"(?:yukarıdaki|önceki)\w*.{0,30}(?:yok say|görmezden)"),
)
_SIGNS = tuple((mark, tuple(words.split()), re.compile(form, re.S)) for mark, words, form in _PATTERNS)


def speaks_to_judge(instruction: str, output: str) -> list[str]:
    """The ways in which a pair addresses whoever judges it: nothing for nearly all traffic."""
    found: dict[str, None] = {}
    for text in (instruction, output):
        seen = text if len(text) <= 2 * LOOKED_AT else f"{text[:LOOKED_AT]}\n{text[-LOOKED_AT:]}"
        low = seen.lower() if seen.isascii() else normalize("NFKC", seen).lower()
        for mark, words, form in _SIGNS:
            if mark not in found and any(word in low for word in words) and form.search(low):
                found[mark] = None
    return list(found)
