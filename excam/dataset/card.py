"""The data card: what is in a build, in tables, with the paper's figures beside ours and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from excam.dataset.assistant import SOURCE as ASSISTANT
from excam.dataset.atlas import TITLES
from excam.dataset.gather import Gathered
from excam.dataset.place import country_name
from excam.dataset.profile import Profile
from excam.dataset.sources import Source
from excam.dataset.splits import Split
from excam.dataset.write import Tally

PAPER = {
    "blend": (3500, 500, 1000),
    "culturalbench": (3400, 500, 1000),
    "include": (3500, 500, 1000),
    "mango": (3500, 500, 1000),
    "globalopinionqa": (3500, 500, 1000),
    "nativqa": (3500, 500, 1000),
    "normad": (1000, 100, 300),
    "calmqa": (900, 100, 300),
    "epic": (3500, 500, 1000),
}
"""Table 2 of the paper: samples of train, dev and test by source, rounded as it rounds them."""

MADE_HERE = "made here, same licence as the code"
MOST_REASONS = 60
SPLITS = tuple(split.value for split in Split)


@dataclass(frozen=True)
class Account:
    """Everything a build knows about itself when it is done."""

    profile: Profile
    seed: int
    gathered: Gathered
    tally: Tally
    items: Counter[str]
    groups: int
    components: int
    soft: Counter[tuple[str, str, str]]
    sources: Mapping[str, Source]

    def unused(self) -> dict[str, int]:
        """How many items of each source gave no sample: no error could be made of them, or there were enough."""
        return {source: count - len(self.tally.used[source]) for source, count in sorted(self.items.items())}


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(_cell(value) for value in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else f"{value:.2f}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def _joined(profile: Profile) -> str:
    """What may not stand in two splits beside the same question."""
    return "near-duplicates and translations" if profile.similar < 1 else "equal questions, and no others,"


def _by_split(tally: Tally, column: str, names: Mapping[str, str] | None = None, **where: str) -> str:
    counts = tally.by("split", column, **where)
    values = sorted({value for _, value in counts}, key=lambda value: (-sum(counts[s, value] for s in SPLITS), value))
    rows = [((names or {}).get(value, value), *(counts[split, value] for split in SPLITS)) for value in values]
    return _table((column, *SPLITS), rows)


def _table_2(account: Account) -> str:
    counts = account.tally.by("split", "source")
    titles = {name: source.title for name, source in account.sources.items()} | TITLES
    titles[ASSISTANT] = "generic assistant tasks"
    rows = []
    for name in titles:
        ours = [counts[split, name] for split in SPLITS]
        if sum(ours) or name in PAPER:
            theirs = [f"{value:,}" for value in PAPER[name]] if name in PAPER else ["–"] * 3
            rows.append((titles[name], *ours, *theirs))
    rows.append(("all", *(sum(counts[split, name] for name in titles) for split in SPLITS), *_totals()))
    return _table(("source", *SPLITS, *(f"paper {split}" for split in SPLITS)), rows)


def _totals() -> list[str]:
    return [f"{sum(row[place] for row in PAPER.values()):,}" for place in range(3)]


def _source_labels(account: Account) -> str:
    counts = account.tally.by("source", "label", "origin")
    unused = account.unused()
    kinds = (
        ("error", "hard"),
        ("error", "soft-llm"),
        ("error", "soft-rule"),
        ("correct", "none"),
        ("not_applicable", "none"),
    )
    head = (
        "source",
        *(f"{label} ({origin})" if label == "error" else label for label, origin in kinds),
        "items",
        "unused",
        "weight in train",
    )
    rows = []
    for name in unused:
        weights = [
            f"{account.tally.weights['train', name, kind]:.2f} ({kind})"
            for kind in ("cultural", "ordinary")
            if ("train", name, kind) in account.tally.weights
        ]
        rows.append(
            (
                name,
                *(counts[name, *kind] for kind in kinds),
                account.items[name],
                unused[name],
                ", ".join(weights) or "–",
            )
        )
    return _table(head, rows)


def _missing(account: Account) -> str:
    if not account.gathered.missing:
        return "Every source was at hand.\n"
    rows = [(name, account.sources[name].title, account.sources[name].get_it) for name in account.gathered.missing]
    return _table(("source", "what it is", "how to get it"), rows)


def _bad(account: Account) -> str:
    gathered = account.gathered
    rows = [
        (source, reason, count, gathered.places[source, reason])
        for (source, reason), count in gathered.bad.most_common()
    ]
    rest = rows[MOST_REASONS:]
    if rest:
        all_of_them = f"{len(rest):,} more reasons, all in build.json"
        rows[MOST_REASONS:] = [("–", all_of_them, sum(count for _, _, count, _ in rest), "–")]
    return _table(("source", "reason", "records", "first seen at"), rows) if rows else "None.\n"


def _weight_share(account: Account) -> float:
    counts = account.tally.by("source", "label", split="train")
    total = ordinary = 0.0
    for (source, label), count in counts.items():
        kind = "ordinary" if label == "not_applicable" else "cultural"
        weight = account.tally.weights["train", source, kind] * count
        total += weight
        ordinary += weight if kind == "ordinary" else 0.0
    return ordinary / total if total else 0.0


def _wrong_answers(profile: Profile) -> str:
    if profile.natural:
        return "Wrong answers were drawn at random, so that a common answer is mostly right: an easier test than usual."
    return "An answer is wrong about as often as it is right, opinions and irony aside."


def render_card(account: Account) -> str:
    """The data card of a build as Markdown."""
    tally = account.tally
    countries = {code: f"{country_name(code)} ({code})" for _, code in tally.by("split", "country") if code != "–"}
    licences = [(name, account.sources[name].licence) for name in account.gathered.found]
    licences += [(name, MADE_HERE) for name in (ASSISTANT, *(TITLES if account.profile.atlas else ()))]
    soft = [(model, severity, outcome, count) for (model, severity, outcome), count in sorted(account.soft.items())]
    parts = [
        "# ExCAM40k, data card\n",
        f"Built with profile `{account.profile.name}` and seed {account.seed}. One row is one instruction–output pair "
        "with the report a judge must write about it. Every error sample has a correct twin with the same instruction "
        "(only an error that an LLM put into the instruction changes it) and the same wording, joined by `twin_id`. "
        f"{_wrong_answers(account.profile)}\n",
        "## Samples beside Table 2 of the paper\n",
        _table_2(account),
        "## Labels\n",
        _by_split(tally, "label"),
        _by_split(tally, "severity", label="error"),
        _by_split(tally, "origin", label="error"),
        _by_split(tally, "task"),
        "## Sources\n",
        _source_labels(account),
        "An item is unused where no error could be made of it, or where its source had given enough. "
        f"Weights even the sources out; ordinary pairs make {_weight_share(account):.1%} of the weight of train. "
        f"Splits are by component: {account.groups:,} questions, stories and posts, {account.components:,} after "
        f"{_joined(account.profile)} were joined; none is in two splits.\n",
        "## Languages\n",
        _by_split(tally, "language"),
        "## Countries\n",
        _by_split(tally, "country", countries),
        "## Licences\n",
        _table(("source", "licence"), licences),
        "A build inherits the strictest of them: with GlobalOpinionQA, EPIC or NativQA in it, it is for non-commercial "
        "use and shared alike. NormAd's owners keep its text out of crawls: do not publish a build in plain text.\n",
        "## Missing\n",
        _missing(account),
        "## Soft errors by LLM\n",
        _table(("model", "asked for", "outcome", "tries"), soft) if soft else "None were given to this build.\n",
        "## Records left out\n",
        _bad(account),
    ]
    return "\n".join(parts)
