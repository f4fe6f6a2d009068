"""What a pair costs when there are many: a thousand to a hundred thousand, a million with --large, from log to store.

Each size runs in a process of its own on a new store, with an engine of known fixed speed in the judge's place (see
``bench.standin``). Printed for each size: processor time of driver, workers and Ray together, the most memory that the
driver and each kind of worker held, the store's size, and how long a commit of 10,000 and a trend take in it. The bars:
what one more pair costs, and memory, grow by at most 10 % from one size to the next. The first size is mostly start-up,
so bars begin with the second. All but the largest run ``--turns`` times while it is held still (``bench.turns``), and
count with the mean: a machine that changes its speed meanwhile is no growth. The largest is also held against itself,
its second half against its first (``bench.course``). The last line is ``flat`` or names what is not. Beside each run
stands what a fixed piece of work took meanwhile (``bench.yardstick``): it tells how much the machine changed.

    python -m bench.growth --json growth.json --plot growth.svg
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.parquet as pq

from bench.course import TENTHS, Course, later_to_earlier, pauses
from bench.footprint import Footprint
from bench.pairs import bench_pairs, pair_table
from bench.turns import hold_still, run_by_turns
from bench.yardstick import Yardstick
from serve.identity import prepare
from serve.settings import JudgeSettings

SIZES, LARGE = (1_000, 10_000, 100_000), (1_000_000,)
GROUP_ROWS = 10_000
BAR = 1.10
MEMORY = ("driver_mb", "reader_mb", "caller_mb")
TIMES = ("seconds", "cpu_seconds", "yardstick_ms", "trend_ms", "commit_ms")


def one_size(log: str, pairs: int, speed: float, turns: int) -> dict[str, Any]:
    """Score one log, with so many pauses; run in a process of its own."""
    import ray

    from bench.standin import take_the_judges_place
    from pipelines.batch import ScoreOptions, score_logs

    settings = _settings()
    with tempfile.TemporaryDirectory() as folder:
        store = f"ducklake:sqlite:{folder}/store/catalog.sqlite"
        take_the_judges_place(settings, speed)
        with Footprint() as used, Yardstick() as yardstick:
            course = Course(pairs, used, pauses(turns), lambda: hold_still(used))
            scored = score_logs([log], store, settings, ScoreOptions(gate=False), course)
            time.sleep(0.6)
        if scored.tally.judged != pairs:
            raise SystemExit(f"{scored.tally.judged} of {pairs} pairs were judged: {scored.tally}")
        ray.shutdown()
        driver = used.held["driver"]
        figures = {
            "pairs": pairs,
            "seconds": scored.seconds - course.seconds_between,
            "cpu_seconds": used.spent(),
            "cpu_seconds_by_stage": used.seconds_by_stage(),
            "yardstick_ms": yardstick.milliseconds,
            "tenths": course.tenths(),
            "driver_mb": used.most("driver"),
            "driver_mb_over_time": [round(held) for held in driver[:: max(1, len(driver) // 40)]],
            "reader_mb": used.most("ReadAndScreen"),
            "caller_mb": used.most("JudgeAndStage"),
        }
        return figures | _of_the_store(store, Path(folder))


def _settings() -> JudgeSettings:
    return JudgeSettings.load(None, base="smollm2-135m", adapter="none", threshold=1.0)


def _of_the_store(url: str, scratch: Path) -> dict[str, Any]:
    from bench.store import CARD, _commits, _seconds
    from excam.store import Store
    from excam.store.queries import By, trends

    with Store.open(url) as store:
        size = store.size()
        waits = sorted(_seconds(lambda: store.query(trends, By.COUNTRY, "week")) for _ in range(5))
        version = store.register_judge(CARD)
        with store.lease("growth") as lease:
            run_id = store.start_run(lease, "bench", version, {})
            commits = _commits(store, lease, run_id, scratch, "")
            store.end_run(lease, run_id, "done", {})
    return {
        "store_mb": size.bytes / 1e6,
        "store_files": size.files,
        "trend_ms": 1000 * waits[2],
        "commit_ms": next(iter(commits.values())),
    }


def measure(sizes: tuple[int, ...], speed: float, turns: int) -> list[dict[str, Any]]:
    """The largest size, with all others in each pause; each from a log written here, which counts for nobody."""
    *smaller, largest = sizes
    prepare(_settings())  # a base that is fetched and converted first is no cost of the first pairs
    found: list[dict[str, Any]] = []

    def run(pairs: int, turns: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            log = f"{folder}/log.parquet"
            pq.write_table(pair_table(bench_pairs(pairs), "growth"), log, row_group_size=GROUP_ROWS)
            command = [sys.executable, "-m", "bench.growth", "--only", log, str(pairs), "--speed", str(speed)]
            said = run_by_turns([*command, "--turns", str(turns)], one_turn)
        found.append(json.loads(said))
        print(line(found[-1]), flush=True)

    def one_turn() -> None:
        for pairs in smaller:
            run(pairs, turns=0)

    run(largest, turns)
    return found


def together(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """A size's runs as one: the mean of what they took and held."""
    return runs[0] | {what: fmean(run[what] for run in runs) for what in (*MEMORY, *TIMES)}


def line(size: dict[str, Any]) -> str:
    return (
        f"{size['pairs']:>9,}{1000 * size['cpu_seconds'] / size['pairs']:>13.2f}{size['yardstick_ms']:>11.1f}"
        f"{size['pairs'] / size['seconds']:>9.0f}{size['driver_mb']:>8.0f}{size['reader_mb']:>8.0f}"
        f"{size['caller_mb']:>8.0f}{size['store_mb']:>9.1f}{size['store_files']:>7}{size['commit_ms']:>8.0f}"
        f"{size['trend_ms']:>7.0f}"
    )


HEAD = (
    f"{'pairs':>9}{'cpu ms/pair':>13}{'yardstick':>11}{'pairs/s':>9}{'driver':>8}{'reader':>8}{'caller':>8}"
    f"{'store MB':>9}{'files':>7}{'commit':>8}{'trend':>7}"
)


def growth(found: list[dict[str, Any]], turns: list[float]) -> dict[str, float]:
    """What each thing grew by from one size to the next, the first of them left out.

    ``turns`` is what the largest size but one cost in each turn.
    """
    grown: dict[str, float] = {}
    more = [(b["cpu_seconds"] - a["cpu_seconds"]) / (b["pairs"] - a["pairs"]) for a, b in pairwise(found)]
    for place in range(1, len(more)):
        grown[f"cost of a pair at {found[place + 1]['pairs']:,}"] = more[place] / more[place - 1]
    for before, after in pairwise(found[1:]):
        for what in MEMORY:
            grown[f"{what.removesuffix('_mb')} memory at {after['pairs']:,}"] = after[what] / before[what]
    if len(turns) > 1 and len(found[-1]["tenths"]) == TENTHS:  # a run of few units has fewer
        grown["cost of a pair in its second half"] = later_to_earlier(found[-1]["tenths"], turns)
    return grown


def verdict(grown: dict[str, float]) -> str:
    """``flat`` only where there is something to tell, and each ratio is one: two small sizes differ by chance alone."""
    if not grown:
        return "too few sizes to tell: give three"
    if drowned := [what for what, ratio in grown.items() if ratio <= 0]:
        return f"too small sizes to tell, start-up drowns it: {', '.join(drowned)}"
    over = [what for what, ratio in grown.items() if ratio > BAR]
    return f"not flat: {', '.join(over)}" if over else "flat"


def plot(found: list[dict[str, Any]], path: Path) -> None:
    """Every figure against the number of pairs, on logarithmic axes."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    panels: dict[str, Callable[[dict[str, Any]], float]] = {
        "processor ms a pair": lambda size: 1000 * size["cpu_seconds"] / size["pairs"],
        "driver, MB": lambda size: size["driver_mb"],
        "reader, MB": lambda size: size["reader_mb"],
        "caller, MB": lambda size: size["caller_mb"],
        "store, bytes a pair": lambda size: 1e6 * size["store_mb"] / size["pairs"],
        "commit of 10,000, ms": lambda size: size["commit_ms"],
        "trend, ms": lambda size: size["trend_ms"],
    }
    figure, axes = pyplot.subplots(2, 4, figsize=(14, 6), layout="constrained")
    for axis, (name, value) in zip(axes.flat, panels.items(), strict=False):
        axis.plot([size["pairs"] for size in found], [value(size) for size in found], marker="o")
        axis.set(xscale="log", title=name, xlabel="pairs", ylim=(0, None))
    axes.flat[-1].axis("off")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", help=f"pairs, in place of {SIZES}")
    parser.add_argument("--large", action="store_true", help="a million too: an hour or more")
    parser.add_argument("--turns", type=int, default=3, help="of the smaller sizes, in pauses of the largest")
    parser.add_argument("--speed", type=float, default=5000.0, help="pairs a second of the stand-in")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--plot", type=Path, help="also draw them, as SVG")
    parser.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(one_size(arguments.only[0], int(arguments.only[1]), arguments.speed, arguments.turns)))
        return
    if not 1 <= arguments.turns < TENTHS:
        parser.error(f"--turns: 1 to {TENTHS - 1}")
    sizes = tuple(arguments.sizes or SIZES) + (LARGE if arguments.large else ())
    print(f"the engine is a stand-in of {arguments.speed:,.0f} pairs/s; memory in MB, times in ms\n{HEAD}")
    runs = measure(sizes, arguments.speed, arguments.turns)
    by_size = [[run for run in runs if run["pairs"] == pairs] for pairs in sizes]
    found = [together(of_a_size) for of_a_size in by_size]
    grown = growth(found, [run["cpu_seconds"] for run in by_size[-2]] if len(sizes) > 1 else [])
    if arguments.json:
        told = {"speed": arguments.speed, "runs": runs, "sizes": found, "growth": grown}
        arguments.json.write_text(json.dumps(told, indent=1))
    if arguments.plot:
        plot(found, arguments.plot)
    for what, ratio in grown.items():
        print(f"{what:<40}{ratio:>6.2f}")
    print(verdict(grown))


if __name__ == "__main__":
    main()
