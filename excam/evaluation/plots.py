"""Pictures of a report: accuracy by source with its intervals, and the reliability of P(error)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from excam.evaluation.figures import HEADLINE, Summary
from excam.fault import UserError


def draw(summary: Summary, title: str, out: Path) -> list[tuple[str, str]]:
    """Write the PNG files into ``out``; (title, file) of each, in the order they belong in a report."""
    try:
        from matplotlib.figure import Figure as Canvas
    except ModuleNotFoundError:
        raise UserError(
            "plots need matplotlib, which is not installed", "pip install 'excam[evaluate]', or add --no-plots"
        ) from None
    drawn = []
    if summary.over("scaled_accuracy", "source"):
        _save(_sources(Canvas(figsize=(8, 4.5), layout="constrained"), summary, title), out / "sources.png")
        drawn.append(("Scaled accuracy by source", "sources.png"))
    if summary.bins:
        _save(_reliability(Canvas(figsize=(5, 5), layout="constrained"), summary, title), out / "reliability.png")
        drawn.append(("Reliability of P(error)", "reliability.png"))
    return drawn


def _save(canvas: Any, path: Path) -> None:
    canvas.savefig(path, dpi=120, metadata={"Software": None})


def _sources(canvas: Any, summary: Summary, title: str) -> Any:
    bars = sorted(summary.over("scaled_accuracy", "source"), key=lambda one: one.figure)
    axes = canvas.subplots()
    below = [max(0.0, one.figure - one.low) for one in bars]
    above = [max(0.0, one.high - one.figure) for one in bars]
    names = [_plain(f"{one.value} (n={one.n:,})") for one in bars]
    axes.barh(names, [one.figure for one in bars], xerr=[below, above], color="#4c72b0", ecolor="#333333", capsize=3)
    axes.axvline(0, color="#333333", linewidth=0.8)
    mean = summary.find("scaled_accuracy", "hard", "all", HEADLINE)
    if mean:
        axes.axvline(mean.figure, color="#c44e52", linestyle="--", label=f"mean of sources {mean.figure:.3f}")
        axes.legend(loc="lower right")
    axes.set_xlabel("scaled accuracy on hard errors and their twins (0 is random)")
    axes.set_title(_plain(title))
    return canvas


def _reliability(canvas: Any, summary: Summary, title: str) -> Any:
    axes, counts = canvas.subplots(2, 1, height_ratios=(4, 1), sharex=True)
    axes.plot([0, 1], [0, 1], color="#999999", linestyle=":")
    axes.plot([one.claimed for one in summary.bins], [one.happened for one in summary.bins], "o-", color="#4c72b0")
    axes.set_ylabel("share of errors")
    ece = summary.find("ece", "all")
    axes.set_title(_plain(f"{title}\nECE {ece.figure:.3f}" if ece else title))
    edges = [one.low for one in summary.bins]
    counts.bar(edges, [one.n for one in summary.bins], [one.high - one.low for one in summary.bins], align="edge")
    counts.set_ylabel("n")
    counts.set_xlabel("P(error)")
    return canvas


def _plain(text: str) -> str:
    """A dollar sign would begin a formula."""
    return text.replace("$", r"\$")
