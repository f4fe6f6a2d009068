"""The sources of ExCAM40k: nine benchmarks of the paper, a stand-in for one of them, and two for evaluation only."""

from __future__ import annotations

from excam.dataset.sources.source import Source

SOURCES: dict[str, Source] = {}
"""Every source by name, in the order of the paper's Table 2, then stand-ins, then evaluation-only sources."""

__all__ = ["SOURCES", "Source"]
