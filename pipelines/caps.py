"""A cap per country: how large a share of each country's pairs may be judged so that no country exceeds it."""

from __future__ import annotations

from collections import Counter

from excam.country import country_of
from excam.mapping import RecordMapping
from excam.pair import LoggedPair
from pipelines.log_file import LogFile
from pipelines.read import read_units
from pipelines.units import UNIT_ROWS, Sampling, sections_of


def capped_sampling(file: LogFile, mapping: RecordMapping, share: float, cap: int) -> Sampling:
    """Count the file's pairs by country and lower the share of those above the cap.

    A share, unlike "the first N", is known before judging and the same every run, so rates can be weighted by it and
    a run that was stopped goes on with the very same sample. The price is reading the file twice.
    """
    counts: Counter[str] = Counter()
    for section in sections_of(file, "", UNIT_ROWS * 16, set(), Sampling()):
        for unit in read_units(section):
            for record in unit.records:
                pair = mapping.read(record)
                if isinstance(pair, LoggedPair):
                    counts[country_of(pair.instruction, pair.output, pair.country).primary or ""] += 1
    lowered = {country: cap / count for country, count in counts.items() if count * share > cap}
    return Sampling(share, tuple(sorted(lowered.items())))
