"""The unit of work: a run of rows that is read, judged and committed whole, or done again after a crash.

Nothing smaller than a unit is ever in the store, so resuming is simple: units in the ledger are done, the others are
not. How rows fall into units depends only on the file and the options, never on timing.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipelines.log_file import LogFile

UNIT_ROWS = 128
UNIT_BYTES = 16 * 2**20
MAX_UNIT_ROWS = 65_536
GROUP_STRIDE = 1 << 24  # parts of one row group are numbered from group * GROUP_STRIDE


@dataclass(frozen=True)
class Sampling:
    """Which pairs are judged: a share by hash of the pair id, and a share of its own for a country that has a cap.

    Pairs of ``always_apps`` are judged all.
    """

    share: float = 1.0
    by_country: tuple[tuple[str, float], ...] = ()
    always_apps: tuple[str, ...] = ()

    def of(self, country: str | None) -> float:
        return min(self.share, dict(self.by_country).get(country or "", self.share))

    @property
    def key(self) -> str:
        apps = f":{json.dumps(sorted(self.always_apps))}" if self.always_apps else ""
        return f"{self.share:g}" + (f":{json.dumps(self.by_country)}" if self.by_country else "") + apps


@dataclass(frozen=True)
class Section:
    """One row group of a file: read by one task, which gives out its units one by one, leaving out those done.

    ``own`` is a file that ExCAM wrote, to judge again what the store holds: its columns mean what ExCAM says.
    """

    uri: str
    fingerprint: str
    group: int
    first_row: int
    rows: int
    unit_rows: int
    done: tuple[int, ...]
    sampling: Sampling
    own: bool = False

    @property
    def parts(self) -> range:
        """The part numbers of this section's units."""
        count = -(-self.rows // self.unit_rows)
        return range(self.group * GROUP_STRIDE, self.group * GROUP_STRIDE + count)


def unit_rows_of(file: LogFile, share: float) -> int:
    """Rows a unit spans: more where few of them are sampled, fewer where rows are huge, so that memory stays flat."""
    wanted = min(MAX_UNIT_ROWS, int(UNIT_ROWS / max(share, 1e-6)))
    return max(1, min(wanted, int(UNIT_BYTES / max(1.0, file.bytes_per_row))))


def unit_fingerprint(file: LogFile, unit_rows: int, sampling: Sampling) -> str:
    """What the ledger knows a file by: another share or unit size is other work, though judged texts are reused."""
    text = f"{file.fingerprint}|{unit_rows}|{sampling.key}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sections_of(
    file: LogFile, fingerprint: str, unit_rows: int, done: set[int], sampling: Sampling
) -> Iterator[Section]:
    """A file's row groups that still have something to do."""
    by_group: dict[int, list[int]] = defaultdict(list)
    for part in sorted(done):
        by_group[part // GROUP_STRIDE].append(part)
    first = 0
    for group, rows in enumerate(file.rows):
        section = Section(file.uri, fingerprint, group, first, rows, unit_rows, (), sampling)
        finished = tuple(part for part in by_group[group] if part in section.parts)
        if len(finished) < len(section.parts):
            yield Section(file.uri, fingerprint, group, first, rows, unit_rows, finished, sampling)
        first += rows


def waves(sections: Iterable[Section], units: int) -> Iterator[list[Section]]:
    """Sections in their order, cut into runs of about so many units that are left to do; one section is never cut."""
    wave: list[Section] = []
    held = 0
    for section in sections:
        left = len(section.parts) - len(section.done)
        if wave and held + left > units:
            yield wave
            wave, held = [], 0
        wave.append(section)
        held += left
    if wave:
        yield wave


def pending_rows(sections: Iterable[Section]) -> int:
    """How many rows are left to do, for the progress bar."""
    return sum(section.rows - sum(_rows_of(section, part) for part in section.done) for section in sections)


def _rows_of(section: Section, part: int) -> int:
    return min(section.unit_rows, section.rows - section.parts.index(part) * section.unit_rows)
