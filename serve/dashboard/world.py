"""The world map: outlines from an installed package, made light enough to be part of a page."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

WIDTH, HEIGHT = 1000, 475

# The package's drawing is 2475 wide and of curves, far finer than a page needs: their end points are enough.
_SCALE = WIDTH / 2475
_NEAREST = 1.8
_SMALLEST = 1.5

_COUNTRY = re.compile(r'<g class="(\w\w) country[^>]*>(.*?)</g>', re.DOTALL)
_PATH = re.compile(r'\bd="([^"]+)"')
_TOKEN = re.compile(r"[a-zA-Z]|-?(?:\d*\.\d+|\d+)(?:e-?\d+)?")
_ARGUMENTS = {"m": 2, "l": 2, "h": 1, "v": 1, "c": 6, "s": 4, "q": 4, "t": 2, "a": 7, "z": 0}

Point = tuple[float, float]


@cache
def outlines() -> dict[str, str]:
    """Every country's outline as SVG path data, by alpha-2 code."""
    drawing = (files("pygal_maps_world") / "worldmap.svg").read_text("utf-8")
    found: dict[str, str] = {}
    for code, body in _COUNTRY.findall(drawing):
        if code == "aq":
            continue  # nobody's traffic, and a quarter of the height
        rings = [ring for data in _PATH.findall(body) for ring in _rings(data)]
        rings.sort(key=_extent, reverse=True)
        kept = rings[:1] + [ring for ring in rings[1:] if _extent(ring) >= _SMALLEST]
        found[code.upper()] = "".join(map(_drawn, kept))
    return found


def _rings(data: str) -> list[list[Point]]:
    """The closed lines through the end points of a path's curves."""
    tokens = _TOKEN.findall(data)
    rings: list[list[Point]] = []
    x = y = 0.0
    command, place = "", 0
    while place < len(tokens):
        if tokens[place].isalpha():
            command, place = tokens[place], place + 1
        kind = command.lower()
        count = _ARGUMENTS[kind]
        values = [float(token) for token in tokens[place : place + count]]
        place += count
        if kind == "z":
            x, y = rings[-1][0]
            continue
        across, down = (0.0, 0.0) if command.isupper() else (x, y)
        if kind == "h":
            x = across + values[0]
        elif kind == "v":
            y = down + values[0]
        else:
            x, y = across + values[-2], down + values[-1]
        if kind == "m":
            rings.append([])
            command = "L" if command == "M" else "l"
        rings[-1].append((x, y))
    return [_thinned([(a * _SCALE, b * _SCALE) for a, b in ring]) for ring in rings]


def _thinned(ring: list[Point]) -> list[Point]:
    kept = ring[:1]
    for point in ring[1:]:
        if abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) >= _NEAREST:
            kept.append(point)
    return kept if len(kept) > 2 else ring


def _extent(ring: list[Point]) -> float:
    across, down = [x for x, _ in ring], [y for _, y in ring]
    return max(max(across) - min(across), max(down) - min(down))


def _drawn(ring: list[Point]) -> str:
    return "M" + " ".join(f"{x:.1f},{y:.1f}" for x, y in ring) + "Z"
