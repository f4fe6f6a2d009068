"""The Hugging Face hub through its own client, which resumes downloads and honours the user's endpoint and token."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from excam.fault import UserError
from excam.models.folder import MODEL_FILES
from excam.models.registry import HubFile
from excam.models.sources import Progress, SourceUnavailableError

_REACH_SECONDS = 4.0
_PINNED_ID = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40})")


def fetch_file(file: HubFile, folder: Path, progress: Progress) -> Path:
    """Download one published file into the folder; gives up within seconds where no hub answers."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    endpoint = os.environ.get("HF_ENDPOINT")
    try:
        # The download itself tries five times with growing pauses; this one question does not.
        get_hf_file_metadata(hf_hub_url(file.repository, file.file, endpoint=endpoint), timeout=_REACH_SECONDS)
        path = hf_hub_download(
            file.repository, file.file, local_dir=folder, endpoint=endpoint, tqdm_class=_bar(progress)
        )
    except Exception as problem:  # the client lets its HTTP library's exceptions through, whichever that is
        raise SourceUnavailableError(f"{file.repository}: {_first_line(problem)}") from problem
    return Path(path)


def is_hub_id(text: str) -> bool:
    """Whether the text looks like OWNER/NAME, with or without a revision."""
    return re.fullmatch(r"[\w.-]+/[\w.-]+(@.*)?", text) is not None


def fetch_snapshot(hub_id: str, progress: Progress) -> Path:
    """A whole model ``OWNER/NAME@COMMIT`` from the hub into the user's hub cache.

    The commit is required: a branch name would let the judge change under its version.
    """
    match = _PINNED_ID.fullmatch(hub_id)
    if match is None:
        raise UserError(
            f"{hub_id!r} is no folder here, and a hub model without a pinned commit is not used",
            "write OWNER/NAME@COMMIT with the 40 hexadecimal digits of the commit shown on the model's page",
        )
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(
                match["repository"],
                revision=match["commit"],
                allow_patterns=list(MODEL_FILES),
                etag_timeout=_REACH_SECONDS,
                endpoint=os.environ.get("HF_ENDPOINT"),
                tqdm_class=_bar(progress),
            )
        )
    except Exception as problem:
        raise UserError(
            f"hub model {hub_id} could not be fetched: {_first_line(problem)}",
            "check the name, the commit, your access to the model and the network; or give a folder instead",
        ) from problem


def _first_line(problem: Exception) -> str:
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]


def _bar(progress: Progress) -> type[Any]:
    """The client reports through a tqdm class: this one passes on what it would draw."""
    from huggingface_hub.utils import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        def display(self, msg: str | None = None, pos: int | None = None) -> bool:
            progress(f"downloading {self.desc or ''}".rstrip(": "), int(self.n), int(self.total or 0))
            return True

    return Bar
