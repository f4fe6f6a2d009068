"""Pairs to measure with: made from a seed, of the length production pairs have, no two alike."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pyarrow as pa

PLACES = ("Indonesia", "Japan", "Mexico", "Nigeria", "Germany", "Egypt", "Brazil", "India", "Turkey", "Ethiopia")
TOPICS = ("weddings", "New Year", "school lunches", "greetings", "funerals", "gift giving", "street food", "tea")
WORDS = (
    "family guests music rice bread market elders morning village dance prayer cloth river table season honour "
    "silver garden neighbour song candle feast drum story basket lantern bridge temple harvest coin spice street"
).split()


def bench_pairs(count: int, words: int = 90, seed: int = 7) -> list[tuple[str, str]]:
    """Instruction and output, about ``words`` words in all."""
    dice = random.Random(seed)
    pairs = []
    for number in range(count):
        place, topic = dice.choice(PLACES), dice.choice(TOPICS)
        asked = f"Question {number}: how do people in {place} arrange {topic}, and what should a visitor know?"
        told = " ".join(dice.choices(WORDS, k=max(1, words - 16)))
        pairs.append((asked, f"In {place}, {topic} usually go like this: {told}."))
    return pairs


def pair_table(pairs: list[tuple[str, str]], name: str) -> pa.Table:
    """The pairs as a log."""
    start = datetime(2026, 9, 1, tzinfo=UTC)
    return pa.table(
        {
            "pair_id": [f"{name}-{number}" for number in range(len(pairs))],
            "instruction": [instruction for instruction, _ in pairs],
            "output": [output for _, output in pairs],
            "logged_at": [start + timedelta(minutes=number) for number in range(len(pairs))],
        }
    )
