"""The sources of ExCAM40k: nine benchmarks of the paper, a stand-in for one of them, and two for evaluation only."""

from __future__ import annotations

from excam.dataset.sources import (
    blend,
    calmqa,
    culturalbench,
    culturall,
    epic,
    exams,
    globalopinionqa,
    include,
    mango,
    msqa,
    nativqa,
    normad,
)
from excam.dataset.sources.source import Source

_PAPER = (blend, culturalbench, include, mango, globalopinionqa, nativqa, normad, calmqa, epic)
_STAND_INS = (exams,)
_EVALUATION = (culturall, msqa)

SOURCES: dict[str, Source] = {module.SOURCE.name: module.SOURCE for module in (*_PAPER, *_STAND_INS, *_EVALUATION)}
"""Every source by name, in the order of the paper's Table 2, then stand-ins, then evaluation-only sources."""

__all__ = ["SOURCES", "Source"]
