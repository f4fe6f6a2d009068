"""A base model is a name, a folder or a pinned hub model, and nothing vague."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from excam.fault import UserError
from excam.models.base import resolve
from excam.models.digest import combined_sha256

if TYPE_CHECKING:
    from tests.excam.models.conftest import Mirror

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {"config.json": b"{}", "model.safetensors": b"weights", "tokenizer.json": b"{}"}
FOLDER_SHA256 = combined_sha256((name, hashlib.sha256(data).hexdigest()) for name, data in FILES.items())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "mine"
    place.mkdir()
    for name, data in FILES.items():
        (place / name).write_bytes(data)
    return place


def test_a_folder_is_used_in_place_and_named_by_the_hash_of_its_files(folder: Path, cache: Path) -> None:
    base = resolve(str(folder), cache)
    assert (base.name, base.path, base.sha256, base.license) == ("mine", folder, FOLDER_SHA256, "not stated")


def test_any_changed_file_of_the_model_changes_the_hash_and_no_other_does(folder: Path, cache: Path) -> None:
    (folder / "README.md").write_text("read me")
    (folder / "LICENSE").write_text("mine")
    assert resolve(folder, cache).sha256 == FOLDER_SHA256
    assert resolve(folder, cache).license == "see LICENSE"
    hashes = {FOLDER_SHA256}
    for name in (*FILES, "chat_template.jinja"):
        (folder / name).write_bytes(b"changed")
        hashes.add(resolve(folder, cache).sha256)
    assert len(hashes) == 5


@pytest.mark.parametrize("missing", FILES)
def test_a_folder_that_is_not_whole_is_refused_by_what_it_lacks(folder: Path, cache: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(UserError, match=rf"{folder} has no .*{Path(missing).suffix}"):
        resolve(folder, cache)


def test_pickled_weights_are_refused(folder: Path, cache: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(UserError) as fault:
        resolve(folder, cache)
    assert "only pytorch_model.bin" in fault.value.message
    assert "runs code" in fault.value.fix


def test_a_missing_shard_is_named(folder: Path, cache: Path) -> None:
    index = {"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(UserError, match=r"lacks 1 files that its index names: model-2.safetensors"):
        resolve(folder, cache)


@pytest.mark.parametrize("text", ["[1]", '{"weight_map": [1]}', "[" * 200_000], ids=["list", "map", "deep"])
def test_an_index_that_is_none_is_named(folder: Path, cache: Path, text: str) -> None:
    (folder / "model.safetensors.index.json").write_text(text)
    with pytest.raises(UserError, match=r"model.safetensors.index.json is not an index"):
        resolve(folder, cache)


def test_a_source_can_be_chosen_only_for_a_base_that_has_several(folder: Path, cache: Path) -> None:
    for base in (str(folder), f"someone/model@{COMMIT}"):
        with pytest.raises(UserError, match=f"{base} is none"):
            resolve(base, cache, source="packages")


@pytest.mark.parametrize("text", ["no-such-model", "/no/such/folder", "a/b/c", "https://me:tr0ub4dor@host/model"])
def test_what_is_nothing_is_refused_and_no_password_repeated(text: str, cache: Path) -> None:
    with pytest.raises(UserError) as fault:
        resolve(text, cache)
    assert "tr0ub4dor" not in str(fault.value)


@pytest.mark.parametrize("text", ["someone/model", "someone/model@main", f"someone/model@{COMMIT[:12]}"])
def test_a_hub_model_needs_its_whole_commit(text: str, cache: Path) -> None:
    with pytest.raises(UserError, match="without a pinned commit"):
        resolve(text, cache)


def test_a_pinned_hub_model_is_fetched_without_its_pickles(
    hub: Mirror, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    for name, data in FILES.items():
        hub.publish_on_hub("someone/model", name, data, COMMIT)
    pickle = hub.publish_on_hub("someone/model", "pytorch_model.bin", b"code", COMMIT)
    base = resolve(f"someone/model@{COMMIT}", cache)
    assert base.sha256 == FOLDER_SHA256
    assert hub.fetched[pickle] == 0


def test_a_hub_model_that_cannot_be_had_is_a_fault_with_its_name(hub: Mirror, cache: Path) -> None:
    with pytest.raises(UserError, match=f"someone/nothing@{COMMIT} could not be fetched"):
        resolve(f"someone/nothing@{COMMIT}", cache)


def test_missing_packages_are_named_before_anything_is_downloaded(
    index: Mirror, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)  # as in an install without the extra
    with pytest.raises(UserError, match="without gguf"):
        resolve("smollm2-135m", cache)
    assert not index.fetched
