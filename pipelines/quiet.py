"""Ray talks on stderr while it works; a command's output is for what the user asked, so only warnings get through."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

ASKED_AGAIN = "Failed to get queue length"  # on a busy machine; Serve's router asks once more and nothing comes of it


def _matters(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING and not record.getMessage().startswith(ASKED_AGAIN)


def start_ray_quietly() -> None:
    """Start Ray, or join the cluster in RAY_ADDRESS, without a word on the terminal."""
    from serve.start import start_ray

    hush_ray()
    if os.environ.get("EXCAM_RAY_LOGS"):
        start_ray()
        return
    with _silent_stderr():
        start_ray()


@contextmanager
def _silent_stderr() -> Iterator[None]:
    """Ray's core announces its log level on the file descriptor itself, past everything Python could filter."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def hush_ray() -> None:
    """Keep Ray's chatter off the terminal; call it before Ray starts. EXCAM_RAY_LOGS=1 lets everything through.

    Ray Data and Ray Serve go on writing to their log files: only handlers that write to a stream are told to be quiet.
    Serve sets its logger up anew whenever it pleases, so there a filter on the logger does what a level would not.
    Ray Data starts every stage with arguments that Ray's core then calls an error, at every run and without harm; the
    core knows levels only.
    """
    if os.environ.get("EXCAM_RAY_LOGS"):
        return
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    serve = logging.getLogger("ray.serve")
    if _matters not in serve.filters:
        serve.addFilter(_matters)
    import ray.data  # noqa: F401 - sets its handlers up

    logging.getLogger("ray.data._internal.progress").setLevel(logging.ERROR)
    for handler in logging.getLogger("ray.data").handlers:
        if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
            handler.setLevel(logging.WARNING)
