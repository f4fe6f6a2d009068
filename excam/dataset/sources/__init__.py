"""The sources of ExCAM40k: nine benchmarks of the paper, a stand-in for one of them, and two for evaluation only."""

from __future__ import annotations

from excam.dataset.sources import blend, culturalbench, globalopinionqa
from excam.dataset.sources.source import Source

_IN_ORDER = (blend.SOURCE, culturalbench.SOURCE, globalopinionqa.SOURCE)

SOURCES: dict[str, Source] = {source.name: source for source in _IN_ORDER}
"""Every source by name, in the order of the paper's Table 2, then stand-ins, then evaluation-only sources."""

__all__ = ["SOURCES", "Source"]
