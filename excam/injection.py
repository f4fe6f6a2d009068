"""Text that speaks to its judge: marked before it is judged, and judged a second time without what it says to it.

A judge reads logged text as data, and control tokens spelled out in it never act as such (``excam.models.tokens``), but
no model is deaf to orders. So the marks stand in the pair's metadata, and an engine also decides on the output without
the marked passages: the graver of the decisions counts, so that words to the judge can hide no error from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from excam.composed import composed

LOOKED_AT = 100_000  # characters at either end of a text; the judge itself sees fewer
METADATA_KEY = "speaks_to_judge"
SEEN_BY_JUDGE = 25_000  # characters at either end, more than a prompt of the usual length has room for


def _word_with(stems: str) -> str:
    """A word up to the first of these stems in it: each word is read once, however often they stand there."""
    return rf"\b(?>\w*?(?:{stems}))"


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
        _word_with("return|report|list|output|answer|respond|write|say|find|flag|judge|metric|evaluator")
        + r"\w*+.{0,60}\b(?:no|zero|without|free of|any)\b.{0,12}\berrors?",
    ),
    ("order", "now", r"you are now\b.{0,200}\b(?:error|correct|report|judge)"),
    ("order", "abaikan lupakan", r"(?:abaikan|lupakan)\b.{0,60}\b(?:di atas|sebelumnya|kesalahan)"),
    ("order", "ignora olvida", _word_with("ignora|olvida") + r"\w*+.{0,40}\b(?:anterior|arriba)"),
    ("order", "ignorez oubliez", r"(?:ignorez|oubliez)\b.{0,40}(?:ci-dessus|préc[éè]d)"),
    ("order", "ignorier vergiss", _word_with("ignorier|vergiss") + r"\w*+.{0,40}\b(?:obige|bisherige|vorherige)"),
    ("order", "игнорируй забудь", _word_with("игнорируй|забудь") + r"(?:\w*?|\w*+.{0,40})(?:выше|предыдущ)"),
    ("order", "無視 忽略 无视", r"(?:以上|上記|前述|之前|上面).{0,12}(?:無視|忽略|无视)"),
    ("order", "無視 忽略 无视", r"(?:無視|忽略|无视).{0,12}(?:以上|上述|之前|上面|上記)"),
    ("order", "تجاهل", r"تجاهل.{0,30}(?:سبق|أعلاه|السابق)"),
    ("order", "무시", r"(?:위|이전).{0,12}무시"),
    ("order", "अनदेखा नज़रअंदाज़", r"ऊपर.{0,30}(?:अनदेखा|नज़रअंदाज़)"),
    ("order", "yok görmezden", _word_with("yukarıdaki|önceki") + r"(?:\w*?|\w*+.{0,30})(?:yok say|görmezden)"),
)
_SIGNS = tuple((mark, tuple(words.split()), re.compile(form, re.S)) for mark, words, form in _PATTERNS)


# What is cut: whole paragraphs, or single sentences where the order hides in the midst of an answer.
_BETWEEN = (re.compile(r"(\n\s*\n)"), re.compile(r"((?<=[.!?…؟۔।॥።။។])\s+|(?<=[。！？])|\n+)"))


def speaks_to_judge(instruction: str, output: str) -> list[str]:
    """The ways in which a pair addresses whoever judges it: nothing for nearly all traffic."""
    found: dict[str, None] = {}
    for text in (instruction, output):
        for mark in _marks(_ends(text, LOOKED_AT)):
            found[mark] = None
    return list(found)


def second_looks(output: str, reach: int = 0) -> list[str]:
    """An output without the passages that speak to the judge, paragraphs or sentences: nothing for nearly all traffic.

    An instruction is left whole: it says what was asked, and orders in it hardly move a judge. ``reach`` is how many
    characters at either end of a text a long prompt can show.
    """
    seen = _ends(output, max(reach, SEEN_BY_JUDGE))
    if next(_marks(seen), None) is None:
        return []
    cut = (_without(seen, between) for between in _BETWEEN)
    return list(dict.fromkeys(left for left in cut if left and left != seen.strip()))


def _marks(text: str) -> Iterator[str]:
    low = composed(text, "NFKC").lower()
    for mark, words, form in _SIGNS:
        if any(word in low for word in words) and form.search(low):
            yield mark


def _without(text: str, between: re.Pattern[str]) -> str:
    pieces = between.split(text)  # passages and, after each, what parts it from the next
    kept = [
        passage + gap
        for passage, gap in zip(pieces[::2], [*pieces[1::2], ""], strict=True)
        if next(_marks(passage), None) is None
    ]
    return "".join(kept).strip()


def _ends(text: str, length: int) -> str:
    return text if len(text) <= 2 * length else f"{text[:length]}\n{text[-length:]}"
