"""Does a stream's memory stay flat, batch after batch? On a real broker, with the stand-in engine of ``bench.standin``.

Pairs arrive steadily and batches are small, so that a few minutes hold as many as an hour of production: whatever a
batch leaves behind adds up. Printed is the memory that the driver and each worker held in every fifth of the run, the
median and the most, and by how much the last three fifths climb. The bars: the last fifth's median and its most are at
most 10 % above the second's (the first is warm-up), and going on like the last three, a thousand batches would add at
most 10 %. The most alone could hide growth behind a peak of the second fifth, the median alone a peak that grows. The
last line is ``flat`` or names what is not. Ten minutes at the default rate are 60,000 pairs, so that the 20,000
judgements which a caller remembers on purpose are full in the second fifth; a shorter run still sees them grow.

    python -m bench.endurance --minutes 10 --json endurance.json
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.footprint import Footprint
from bench.growth import BAR
from bench.standin import take_the_judges_place
from bench.stream import Steady, steady
from serve.settings import JudgeSettings
from tests.kafka import running_kafka

WATCHED = ("driver", "Screener", "StreamJudge")
FIFTHS = 5
AHEAD = 1000  # batches


def run(minutes: float, rate: float, latency: float) -> tuple[Steady, Footprint]:
    """Stream that long at this rate."""
    settings = JudgeSettings.load(None, base="smollm2-135m", adapter="none", threshold=1.0)
    with tempfile.TemporaryDirectory() as folder, running_kafka() as kafka:
        take_the_judges_place(settings, 5000.0)
        with Footprint() as used:
            return steady(folder, settings, kafka, latency, rate, minutes, seed=13), used


def fifths(held: list[float]) -> tuple[list[float], list[float]]:
    """The median and the most of each fifth of the looks."""
    size = len(held) // FIFTHS
    if not size:
        raise SystemExit("too short to tell: give more --minutes")
    parts = [held[part * size : (part + 1) * size] for part in range(FIFTHS)]
    return [float(np.median(part)) for part in parts], [max(part) for part in parts]


def climb(held: list[float], batches: int) -> float:
    """MB that one batch adds: the slope of a line through the looks of the last three fifths."""
    late = held[2 * len(held) // FIFTHS :]
    return float(np.polyfit(range(len(late)), late, 1)[0]) * len(held) / batches


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=100.0, help="pairs a second")
    parser.add_argument("--max-latency", type=float, default=1.0, help="seconds a pair may wait: small batches")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    record, used = run(arguments.minutes, arguments.rate, arguments.max_latency)
    found = {name: fifths(used.held[name]) for name in WATCHED}
    climbs = {name: climb(used.held[name], len(record.batches)) for name in WATCHED}
    figures: dict[str, Any] = {"batches": len(record.batches), "pairs": record.settled_pairs}
    figures |= {"median_mb": {name: medians for name, (medians, _) in found.items()}}
    figures |= {"most_mb": {name: most for name, (_, most) in found.items()}, "mb_a_batch": climbs}
    print(f"{figures['pairs']:,} pairs in {figures['batches']:,} batches; memory in each fifth, median and most, MB")
    for name, (medians, most) in found.items():
        shown = "".join(f"{median:>7.0f} {peak:>5.0f}" for median, peak in zip(medians, most, strict=True))
        ratios = f"{medians[-1] / medians[1]:.2f} {most[-1] / most[1]:.2f}"
        print(f"{name:<14}{shown}   {ratios}   {1000 * climbs[name]:+.0f} KB a batch")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1))
    over = []
    for name, (medians, most) in found.items():
        bars = {
            "median": medians[-1] > BAR * medians[1],
            "most": most[-1] > BAR * most[1],
            "climb": AHEAD * climbs[name] > (BAR - 1) * most[-1],
        }
        over += [f"{name} ({bar})" for bar, missed in bars.items() if missed]
    print(f"not flat: {', '.join(over)}" if over else "flat")


if __name__ == "__main__":
    main()
