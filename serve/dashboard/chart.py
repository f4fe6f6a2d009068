"""Geometry of the charts. They are drawn as SVG by the server: no script, no styles in the page, nothing to fetch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from excam.store.queries.overview import Countries, Point
from excam.store.queries.trends import Bucket
from serve.dashboard.world import outlines

WIDTH, HEIGHT = 720, 240
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 30

CLASSES = (0.02, 0.05, 0.10, 0.20)
CLASS_NAMES = ("below 2 %", "2 to 5 %", "5 to 10 %", "10 to 20 %", "20 % and more")

_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Dot:
    """One rate in a chart; ``point`` holds its figures."""

    x: float
    y: float
    point: Point


@dataclass(frozen=True)
class LineChart:
    """Stretches of neighbouring buckets, each a line in its band; a bucket without pairs leaves a gap."""

    stretches: list[tuple[str, str]]
    dots: list[Dot]
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str]]


def line_chart(points: list[Point], bucket: Bucket) -> LineChart:
    """A line of rates over time inside its band of 95 % intervals; the scale begins at zero and fits the band."""
    top = next((step for step in _STEPS if max(point.rate.high for point in points) <= step), 1.0)
    first, last = points[0].bucket, points[-1].bucket
    days = max(1, (last - first).days)

    def across(day: date) -> float:
        share = (day - first).days / days if first < last else 0.5
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def down(rate: float) -> float:
        return round(TOP + (1 - min(1.0, rate / top)) * (HEIGHT - TOP - BOTTOM), 1)

    longest = timedelta(days={Bucket.DAY: 1, Bucket.WEEK: 7, Bucket.MONTH: 31}[bucket])
    runs: list[list[Point]] = []
    for point in points:
        if runs and point.bucket - runs[-1][-1].bucket <= longest:
            runs[-1].append(point)
        else:
            runs.append([point])
    stretches = []
    for run in runs:
        upper = [f"{across(p.bucket)},{down(p.rate.high)}" for p in run]
        lower = [f"{across(p.bucket)},{down(p.rate.low)}" for p in reversed(run)]
        line = [f"{across(p.bucket)},{down(p.rate.rate or 0.0)}" for p in run]
        stretches.append((" ".join(upper + lower), " ".join(line)))
    dots = [Dot(across(point.bucket), down(point.rate.rate or 0.0), point) for point in points]
    y_ticks = [(down(top * part / 4), f"{top * part / 4 * 100:.3g} %") for part in range(5)]
    every = max(1, -(-len(points) // 7))
    x_ticks = [(across(point.bucket), f"{point.bucket:%d %b %y}") for point in points[::every]]
    return LineChart(stretches, dots, y_ticks, x_ticks)


@dataclass(frozen=True)
class Area:
    """A country on the map: its shade, and in words what the shade says."""

    code: str
    path: str
    shade: str
    n: int
    rate: float | None


def world_map(found: Countries) -> list[Area]:
    """Every country with an outline: a shade where the rate rests on enough pairs, grey where it does not."""
    rates = {row.country: row for row in found.countries}
    areas = []
    for code, path in outlines().items():
        row = rates.get(code)
        if row is None:
            areas.append(Area(code, path, "none", 0, None))
        elif row.enough and row.rate.rate is not None:
            areas.append(Area(code, path, f"rate-{shade(row.rate.rate)}", row.rate.n, row.rate.rate))
        else:
            areas.append(Area(code, path, "few", row.rate.n, None))
    return areas


def shade(rate: float) -> int:
    """Which of the map's five classes a rate falls into; fixed, so that two maps can be compared."""
    return sum(rate >= edge for edge in CLASSES)
