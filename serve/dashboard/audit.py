"""Who looked at which reports and dead letters: a line of JSON for each view and export, in a file only added to."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from starlette.requests import Request


class Audit:
    """The audit log; without a file nothing is kept, which is right for one's own machine and nowhere else."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._lock = threading.Lock()

    def note(self, request: Request, what: str, pair_ids: Sequence[str], dead_ids: Sequence[str] = ()) -> None:
        """Who did what with which pairs or dead letters, when and from where; ASCII, so that no id forges a line."""
        if self._file is None:
            return
        line = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "who": request.state.person.name,
            "from": request.client.host if request.client else None,
            "what": what,
            "filters": request.url.query,
            "pairs": list(pair_ids),
            "dead_letters": list(dead_ids),
        }
        with self._lock, self._file.open("a", encoding="ascii") as log:
            log.write(json.dumps(line, ensure_ascii=True) + "\n")
