"""How many pairs a second one core asks the gate, on the bundled sample log; bar: 20,000.

Run ``python -m bench.gate``. The processor's time is counted, not the clock's, so that a busy machine does not matter;
prints pairs/s by batch size and, last, ``pairs/s N``.
"""

from __future__ import annotations

import time

from excam.relevance import bundled, gate_version, gates
from excam.sample import sample_pairs

ROUNDS = 5
COPIES = 100
BATCHES = (1, 16, 256, 4096)


def measure(pairs: list[tuple[str, str]], batch: int) -> float:
    """Pairs a second of processor time, the best of a few rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for place in range(0, len(pairs), batch):
            gates(pairs[place : place + batch])
        best = min(best, time.process_time() - start)
    return len(pairs) / best


def main() -> None:
    one = [(pair.instruction, pair.output) for pair in sample_pairs()]
    gates(one)
    characters = sum(len(instruction) + len(output) for instruction, output in one) / len(one)
    print(f"gate {gate_version()}, {bundled().weights.nbytes:,} bytes in memory, {characters:.0f} characters a pair")
    speed = 0.0
    for batch in BATCHES:
        speed = measure(one * (COPIES if batch > 1 else 4), batch)
        print(f"batches of {batch:>5,}: {speed:>9,.0f} pairs/s")
    print(f"pairs/s {speed:.0f}")


if __name__ == "__main__":
    main()
