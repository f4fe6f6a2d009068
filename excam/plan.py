"""How much of everything a traffic needs: from measured figures alone, and with what was measured told from the rest.

A figure here is *measured* when the very thing was timed, by a command of this repository, *extrapolated* when it
follows from a measured one by an argument that is written beside it, *assumed* when the user gave it or left a default.
A judge that was never timed on the machine asked for is never called measured.
"""

from __future__ import annotations

import importlib.resources
import math
import tomllib
from datetime import date
from enum import StrEnum
from functools import cache

from pydantic import BaseModel, ConfigDict, Field

from excam.fault import UserError

DAYS_PER_MONTH = 30.4
BUSY = 0.7  # of what a replica can do; the rest is for peaks, as docs/streaming.md says


class Basis(StrEnum):
    MEASURED = "measured"
    EXTRAPOLATED = "extrapolated"
    ASSUMED = "assumed"


class Figure(BaseModel):
    """A number, what it is of, and where it comes from."""

    model_config = ConfigDict(frozen=True)

    name: str
    value: float
    unit: str
    basis: Basis
    how: str


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Machine(_Frozen):
    title: str


class _Measured(_Frozen):
    value: float = Field(gt=0)
    command: str
    machine: str
    date: date


class _Judge(_Measured):
    model: str
    tokens_per_pair: float = Field(gt=0)


class _Size(_Measured):
    texts: float = Field(gt=0)
    tokens_per_pair: float = Field(gt=0)


class Figures(_Frozen):
    """The data file: everything that was measured, with its command, machine and day."""

    machines: dict[str, _Machine]
    parameters: dict[str, float]
    judges: tuple[_Judge, ...]
    report: _Measured
    gate_cultural: _Measured
    gate_ordinary: _Measured
    screener: _Measured
    store: _Size


class Traffic(_Frozen):
    """What is asked: how many pairs, how long, how many of them reach the judge, in how many hours."""

    pairs_per_day: int = Field(gt=0)
    machine: str
    model: str
    tokens_per_pair: float = Field(gt=0)
    cultural: float = Field(ge=0, le=1)
    reports: float = Field(ge=0, le=1)
    hours: float = Field(gt=0, le=24)
    peak: float = Field(ge=1)
    pairs_per_second: float | None = Field(default=None, gt=0)


class Plan(BaseModel):
    """What to provide, and the figures it follows from."""

    model_config = ConfigDict(frozen=True)

    traffic: Traffic
    needs: list[Figure]
    rests_on: list[Figure]
    missing: list[str]


@cache
def figures() -> Figures:
    text = importlib.resources.files("excam").joinpath("plan.toml").read_text(encoding="utf-8")
    return Figures.model_validate(tomllib.loads(text))


def make_plan(traffic: Traffic) -> Plan:
    """Size judge, store and topic for a traffic."""
    known = figures()
    passed, gates = _passing(traffic, known)
    speed = _speed(traffic, known)
    report = _figure("a report costs as many decisions", "decisions", known.report, Basis.EXTRAPOLATED)
    cost = 1 + traffic.reports * known.report.value
    judged = traffic.pairs_per_day * passed
    nightly = judged * cost / (speed.value * BUSY)
    peak = traffic.pairs_per_day / 86400 * traffic.peak
    live = math.ceil(peak * passed * cost / (speed.value * BUSY))
    replicas = math.ceil(nightly / (traffic.hours * 3600))
    size = _bytes_per_pair(traffic, known)
    screener = _figure("one screener", "messages/s", known.screener, Basis.MEASURED)
    follows = f"pairs that reach the judge, reports counted in, at {BUSY:.0%} of a replica's speed"
    month = traffic.pairs_per_day * DAYS_PER_MONTH * size.value / 1e9
    needs = [
        _need("pairs that reach the judge", judged, "a day", "the shares that pass the gate"),
        _need("replicas for a nightly run", replicas, f"within {traffic.hours:g} h", follows),
        _need("hours of such a night", nightly / replicas / 3600, "h", "the same, spread over the replicas"),
        _need("replicas for a live stream", live, f"at {traffic.peak:g} times the mean", follows),
        _need("screeners for a live stream", math.ceil(peak / screener.value), "tasks", "one screener's speed"),
        _need("partitions of the topic", math.ceil(peak / screener.value), "at least", "one task reads one partition"),
        _need("store", month, "GB a month", "bytes a pair, nothing deleted, every text new"),
    ]
    return Plan(
        traffic=traffic, needs=needs, rests_on=[speed, report, *gates, size, screener], missing=_missing(traffic, speed)
    )


def _speed(traffic: Traffic, known: Figures) -> Figure:
    """Decisions a second of one replica, from the nearest thing that was measured."""
    name, unit, tokens = "one replica", "pairs/s", traffic.tokens_per_pair
    if traffic.pairs_per_second:
        how = "given by you; measure it with: python -m bench.overhead"
        return Figure(name=name, value=traffic.pairs_per_second, unit=unit, basis=Basis.ASSUMED, how=how)
    for judge in known.judges:
        if (judge.machine, judge.model) == (traffic.machine, traffic.model):
            if math.isclose(tokens, judge.tokens_per_pair):
                return _figure(name, unit, judge, Basis.MEASURED)
            how = (
                f"{judge.value:g} pairs/s of {judge.tokens_per_pair:g} tokens ({_source(judge)}), longer ones by tokens"
            )
            return _extrapolated(name, judge.value * _as_long(judge, tokens), unit, how)
    for judge in known.judges:
        if judge.machine == traffic.machine and traffic.model in known.parameters:
            # A smaller model is counted as no faster: the engine's scheduler, not the model, may be the limit.
            ratio = min(1.0, known.parameters[judge.model] / known.parameters[traffic.model])
            how = f"{judge.value:g} pairs/s of {judge.model} ({_source(judge)}), less by parameters and by tokens"
            return _extrapolated(name, judge.value * ratio * _as_long(judge, tokens), unit, how)
    raise UserError(
        f"nothing was measured from which the speed of {traffic.model} on {traffic.machine} would follow",
        "measure it there with: python -m bench.overhead --base MODEL, and give the result as --pairs-per-second",
    )


def _as_long(judge: _Judge, tokens: float) -> float:
    """What longer pairs leave of the speed. Shorter ones are counted as no faster: part of the work is by the pair."""
    return min(1.0, judge.tokens_per_pair / tokens)


def _passing(traffic: Traffic, known: Figures) -> tuple[float, list[Figure]]:
    """The share of the pairs that the gate lets through to the judge."""
    cultural = _figure("cultural pairs that pass the gate", "", known.gate_cultural, Basis.MEASURED)
    ordinary = _figure("ordinary pairs that pass the gate", "", known.gate_ordinary, Basis.MEASURED)
    about = _assumed("share of the traffic that is about culture", traffic.cultural, "--cultural")
    reported = _assumed("share of the judged pairs with an error", traffic.reports, "--reports")
    passed = traffic.cultural * cultural.value + (1 - traffic.cultural) * ordinary.value
    return passed, [about, reported, cultural, ordinary]


def _bytes_per_pair(traffic: Traffic, known: Figures) -> Figure:
    """Rows cost the same whatever they say; texts grow with what was said."""
    size = known.store
    value = size.value - size.texts + size.texts * traffic.tokens_per_pair / size.tokens_per_pair
    if math.isclose(traffic.tokens_per_pair, size.tokens_per_pair):
        return _figure("a judged pair in the store", "bytes", size, Basis.MEASURED)
    how = f"{size.value:g} bytes at {size.tokens_per_pair:g} tokens ({_source(size)}), its text grown with the tokens"
    return _extrapolated("a judged pair in the store", value, "bytes", how)


def _missing(traffic: Traffic, speed: Figure) -> list[str]:
    missing = ["Prefixes that requests share, sampling and texts judged before make it cheaper; none is counted."]
    if speed.basis is Basis.EXTRAPOLATED:
        missing.append(f"Time {traffic.model} on {traffic.machine} before you buy: python -m bench.overhead")
    return missing


def _source(one: _Measured) -> str:
    return f"{one.command}, {figures().machines[one.machine].title}, {one.date}"


def _figure(name: str, unit: str, one: _Measured, basis: Basis) -> Figure:
    how = _source(one) if basis is Basis.MEASURED else f"taken over from another machine: {_source(one)}"
    return Figure(name=name, value=one.value, unit=unit, basis=basis, how=how)


def _extrapolated(name: str, value: float, unit: str, how: str) -> Figure:
    return Figure(name=name, value=value, unit=unit, basis=Basis.EXTRAPOLATED, how=how)


def _assumed(name: str, value: float, how: str) -> Figure:
    told = f"{how}; the summary of a first run on a sample tells yours"
    return Figure(name=name, value=value, unit="", basis=Basis.ASSUMED, how=told)


def _need(name: str, value: float, unit: str, how: str) -> Figure:
    return _extrapolated(name, value, unit, how)
