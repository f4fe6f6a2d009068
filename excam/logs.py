"""Logs for machines: with ``EXCAM_LOG=json`` every line on stderr is one JSON object that names its run and its pair.

Runs, commits and dead letters are events of the store's one writer, so score, stream, rescore and replay tell them
alike. Ids and counts are logged, what people said never is. Lines are ASCII, so that nothing in an id can forge one.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from excam.fault import UserError

VARIABLE = "EXCAM_LOG"
LEVEL_VARIABLE = "EXCAM_LOG_LEVEL"

log = logging.getLogger("excam.run")
_bound: dict[str, object] = {}


class JsonLines(logging.Formatter):
    """A record as one line of JSON, with what is bound to this process and what the record brought along."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= _bound | getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


def wants_json() -> bool:
    """Whether this process tells machines rather than people what it does."""
    return os.environ.get(VARIABLE, "").lower() == "json"


def start_logging(stream: TextIO | None = None) -> logging.Handler | None:
    """Write ExCAM's events as JSON if EXCAM_LOG asks for it; Ray Serve's own log files become JSON too."""
    asked = os.environ.get(VARIABLE, "")
    if not asked:
        return None
    if not wants_json():
        raise UserError(f"{VARIABLE} is {asked!r}", f"set it to json, or unset it: {VARIABLE}=json")
    level = os.environ.get(LEVEL_VARIABLE, "info").upper()
    if level not in logging.getLevelNamesMapping():
        raise UserError(f"{LEVEL_VARIABLE} is {level!r}", "set it to debug, info, warning or error")
    os.environ.setdefault("RAY_SERVE_LOG_ENCODING", "JSON")
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger("excam")
    root.setLevel(level)
    root.handlers = [handler]
    root.propagate = False
    return handler


def started() -> bool:
    """Whether events are written anywhere: where EXCAM_LOG itself is mistaken, they are not."""
    return bool(logging.getLogger("excam").handlers)


def bind(**fields: object) -> None:
    """From now on every line of this process carries these; a process does one run at a time."""
    _bound.update(fields)


def unbind() -> None:
    _bound.clear()


def event(name: str, level: int = logging.INFO, **fields: object) -> None:
    """Something that happened, with its particulars. Without EXCAM_LOG it costs nothing and says nothing."""
    log.log(level, name, extra={"fields": fields})
