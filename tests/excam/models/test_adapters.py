"""An adapter is what its card says, or it is not used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from safetensors.numpy import save_file

from excam.calibration import Calibration
from excam.fault import UserError
from excam.models.adapter_card import read_config
from excam.models.adapters import Adapter, bundled_adapter, resolve_adapter, write_card
from excam.models.base import BaseModel

BASE = BaseModel("tiny", Path("/models/tiny"), "a" * 64, "CC0-1.0")
OTHER = BaseModel("other", Path("/models/other"), "b" * 64, "CC0-1.0")
CALIBRATION = Calibration(
    method="temperature", temperature=1.3, threshold=0.4, pairs=100, ece_before=0.1, ece_after=0.05
)
Publish = Callable[..., Adapter]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXCAM_ADAPTERS", str(tmp_path / "adapters"))
    return tmp_path / "adapters"


@pytest.fixture
def publish(home: Path) -> Publish:
    def make(name: str = "judge", version: str = "1.0", base: BaseModel = BASE, **more: Any) -> Adapter:
        folder = home / name / version
        folder.mkdir(parents=True)
        factor = np.full((4, 2), float(len(version)), np.float32)
        save_file({"x.lora_A.weight": factor}, folder / "adapter_model.safetensors")
        (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 4, "lora_alpha": 8}))
        return write_card(folder, name=name, version=version, base=base, dataset="excam40k@1", **more)

    return make


def test_an_adapter_is_found_by_name_version_and_path(publish: Publish, cache: Path) -> None:
    made = publish(metrics={"scaled_accuracy": 0.5}, calibration=CALIBRATION)
    for way in ("judge", "judge@1.0", made.path, str(made.path)):
        found = resolve_adapter(way, cache)
        assert found == made
    assert (found.name, found.version, found.rank, found.base.name) == ("judge", "1.0", 4, "tiny")
    assert found.card.metrics == {"scaled_accuracy": 0.5}
    assert found.card.calibration == CALIBRATION


def test_without_a_version_the_newest_is_meant(publish: Publish, cache: Path) -> None:
    for version in ("1.9", "1.10", "1.2"):
        publish(version=version)
    assert resolve_adapter("judge", cache).version == "1.10"


def test_the_adapter_for_a_base_is_the_newest_trained_on_it(publish: Publish, cache: Path) -> None:
    publish("a", "1.0")
    publish("a", "2.0", OTHER)
    publish("b", "1.5")
    found = bundled_adapter(BASE, cache)
    assert found is not None
    assert (found.name, found.version) == ("b", "1.5")
    assert bundled_adapter(BaseModel("third", Path("/x"), "c" * 64, ""), cache) is None


@pytest.mark.parametrize("file", ["adapter_model.safetensors", "adapter_config.json"])
def test_a_changed_file_is_named_with_both_hashes(publish: Publish, cache: Path, file: str) -> None:
    made = publish()
    resolve_adapter("judge", cache)
    data = bytearray((made.path / file).read_bytes())
    data[-1] ^= 1
    (made.path / file).write_bytes(data)
    with pytest.raises(UserError) as fault:
        resolve_adapter("judge", cache)
    assert str(made.path / file) in fault.value.message
    assert "expected" in fault.value.message
    assert "found" in fault.value.message


def test_another_base_is_refused(publish: Publish) -> None:
    made = publish()
    made.check_base(BASE)
    with pytest.raises(UserError, match="belongs to another base model") as fault:
        made.check_base(OTHER)
    assert "--base tiny" in fault.value.fix


@pytest.mark.parametrize("pickle", ["adapter_model.bin", "optimizer.pt"])
def test_a_pickle_is_refused_even_beside_safetensors(publish: Publish, cache: Path, pickle: str) -> None:
    made = publish()
    (made.path / pickle).write_bytes(b"code")
    with pytest.raises(UserError, match=pickle):
        resolve_adapter("judge", cache)


def test_a_published_adapter_does_not_change(publish: Publish) -> None:
    made = publish()
    with pytest.raises(UserError, match="never changes"):
        write_card(made.path, name="judge", version="1.1", base=BASE, dataset="other")


def _without_rank(card: dict[str, Any]) -> object:
    return {key: value for key, value in card.items() if key != "rank"}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_without_rank, "rank"),
        (lambda card: card | {"version": "latest"}, "version"),
        (lambda card: card | {"base": {"name": "tiny", "sha256": "short"}}, "base.sha256"),
        (lambda card: card | {"rank": 8}, "rank 8"),
        (lambda card: card | {"metrics": {"auc": float("nan")}}, "metrics.auc"),
        (lambda card: "nonsense", "adapter.yaml"),
    ],
)
def test_a_wrong_card_is_a_fault_that_names_the_field(
    publish: Publish, cache: Path, change: Callable[[dict[str, Any]], object], named: str
) -> None:
    made = publish()
    card = made.path / "adapter.yaml"
    card.write_text(yaml.safe_dump(change(yaml.safe_load(card.read_text()))))
    with pytest.raises(UserError) as fault:
        resolve_adapter("judge", cache)
    assert named in fault.value.message


@pytest.mark.parametrize(
    "text",
    ["{", "created: 2026-13-45", "[" * 1500, f"rank: {'1' * 5000}"],
    ids=["open", "no date", "deep", "no number"],
)
def test_a_card_that_is_no_yaml_is_a_fault(publish: Publish, cache: Path, text: str) -> None:
    (publish().path / "adapter.yaml").write_text(text, "utf-8")
    with pytest.raises(UserError, match="is not YAML"):
        resolve_adapter("judge", cache)


@pytest.mark.parametrize("text", ['{"r": 1e400}', "[1]", "[" * 200_000], ids=["infinite", "list", "deep"])
def test_a_configuration_that_is_none_is_a_fault(publish: Publish, text: str) -> None:
    folder = publish().path
    (folder / "adapter_config.json").write_text(text, "utf-8")
    with pytest.raises(UserError, match="is not a LoRA's configuration"):
        read_config(folder)


@pytest.mark.parametrize("name", ["nobody", "judge@9.9", "../judge", "jud*", ""])
def test_an_unknown_name_is_answered_with_what_there_is(publish: Publish, cache: Path, name: str) -> None:
    publish()
    with pytest.raises(UserError) as fault:
        resolve_adapter(name or "@", cache)
    assert "judge" in fault.value.fix or "1.0" in fault.value.fix


def test_an_address_is_sent_to_be_pulled_and_not_repeated(cache: Path) -> None:
    with pytest.raises(UserError, match="by its name or from a folder") as fault:
        resolve_adapter("https://me:tr0ub4dor@host/judge.tar.gz", cache)
    assert "tr0ub4dor" not in str(fault.value)
    assert "excam adapters pull" in fault.value.fix


def test_a_folder_that_is_no_adapter_says_what_it_lacks(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"adapter_config.json and no adapter_model.safetensors"):
        resolve_adapter(tmp_path, cache)
