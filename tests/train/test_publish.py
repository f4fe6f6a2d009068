"""Publishing: the same decisions served as trained, a card that says so, and files that stay as they are."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file, save_file

from excam.calibration import Calibration
from excam.cli.adapters import adapters
from excam.fault import UserError
from excam.models import BaseModel, resolve_adapter
from excam.models.cache import draft_in
from tests.train.conftest import tiny_model
from train import adapter, lora
from train.publish import Agreement, publish, rows_to_verify
from train.split import TEXTS

BASE = BaseModel("tiny", Path("/models/tiny"), "a" * 64, "CC0-1.0")
OTHER = BaseModel("twin", Path("/models/twin"), "b" * 64, "CC0-1.0")
CALIBRATION = Calibration(
    method="temperature", temperature=1.5, threshold=0.4, pairs=100, ece_before=0.2, ece_after=0.1
)


def trained(folder: Path, seed: int = 3) -> Any:
    """A tiny model with an adapter of random weights, and that adapter saved."""
    model = tiny_model()
    lora.attach(model, layers=["q_proj", "up_proj"], rank=4, alpha=8, dropout=0, seed=seed)
    with torch.no_grad():
        for part in lora.parameters(model).values():
            part.normal_(0, 0.2, generator=torch.Generator().manual_seed(seed))
    adapter.save(model, folder, base="tiny")
    return model


@pytest.fixture(autouse=True)
def _own_cache(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "engine" not in request.keywords:
        monkeypatch.setenv("EXCAM_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """What a training run leaves."""
    trained(tmp_path / "run" / "adapter")
    result = {"dataset": "d" * 64, "dev": {"scaled_accuracy": 0.5, "scaled_accuracy.none": float("nan")}}
    result |= {"base_sha256": BASE.sha256}
    (tmp_path / "run" / "result.json").write_text(json.dumps(result))
    return tmp_path / "run" / "adapter"


def test_a_published_adapter_has_the_figures_of_its_run_and_read_only_files(run: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"name": "judge", "version": "1.0", "base": BASE, "home": tmp_path / "home"}
    made, agreement = publish(run, **given, calibration=CALIBRATION, note="for tests")
    assert agreement is None
    assert made.path == tmp_path / "home" / "judge" / "1.0"
    assert made.card.metrics == {"scaled_accuracy": 0.5}
    assert (made.card.dataset, made.card.note, made.card.calibration) == ("d" * 64, "for tests", CALIBRATION)
    assert resolve_adapter(made.path).card == made.card
    assert all(path.stat().st_mode & 0o222 == 0 for path in made.path.iterdir())
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == ["judge"], "no draft is left"


def test_an_adapter_published_again_takes_its_card_along_and_stays_with_its_base(run: Path, tmp_path: Path) -> None:
    """As one does to give it a calibration: its figures and its data are those of the run that made it."""
    home = tmp_path / "home"
    first, _ = publish(run, name="judge", version="1.0", base=BASE, home=home, note="of one source")
    second, _ = publish(first.path, name="judge", version="1.1", base=BASE, home=home, calibration=CALIBRATION)
    third, _ = publish(second.path, name="judge", version="1.1.1", base=BASE, home=home, note="of two sources")
    for card in (second.card, third.card):
        assert (card.metrics, card.dataset) == (first.card.metrics, first.card.dataset)
        assert card.calibration == CALIBRATION
    assert (second.card.note, third.card.note) == ("of one source", "of two sources")
    with pytest.raises(UserError, match="was trained on another base model"):
        publish(first.path, name="judge", version="1.2", base=OTHER, home=home)


def test_a_version_is_published_once(run: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"name": "judge", "version": "1.0", "base": BASE, "home": tmp_path / "home"}
    publish(run, **given)
    with pytest.raises(UserError, match="never changes"):
        publish(run, **given)


@pytest.mark.parametrize("same_cache", [True, False])
def test_of_two_who_publish_one_version_at_once_the_second_is_told(run: Path, tmp_path: Path, same_cache: bool) -> None:
    given: dict[str, Any] = {"name": "judge", "version": "1.0", "base": BASE, "home": tmp_path / "home"}
    step = "mkdir" if same_cache else "rename"  # a lock in another cache is no lock
    take = getattr(Path, step)

    def meanwhile(path: Path, *more: Any, **options: Any) -> Any:
        if path.name == "home" or path.name.startswith(".publishing-"):
            now.undo()
            with pytest.MonkeyPatch.context() as other:
                other.setenv("EXCAM_CACHE", str(tmp_path / ("cache" if same_cache else "other")))
                publish(run, **given, note="first")
        return take(path, *more, **options)

    with pytest.MonkeyPatch.context() as now:
        now.setattr(Path, step, meanwhile)
        with pytest.raises(UserError, match="another card: a published adapter never changes"):
            publish(run, **given, note="second", calibration=CALIBRATION)
    assert resolve_adapter(tmp_path / "home" / "judge" / "1.0").card.note == "first"
    assert len([*(tmp_path / "home").rglob("*")]) == 5, "two folders and three files"


def test_what_a_publishing_that_was_killed_left_goes_with_the_next(run: Path, tmp_path: Path) -> None:
    """An engine that verifies may take all memory there is, and a volume of adapters is small."""
    home = tmp_path / "home"
    code = "import os, sys; from pathlib import Path; from excam.models.cache import draft_in\n"
    code += "with draft_in(Path(sys.argv[1]), 'publishing') as draft: (draft / 'weights').touch(); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, str(home)], check=False, timeout=60).returncode == 9
    assert list(home.glob("*/weights"))
    with draft_in(home, "publishing") as other:
        publish(run, name="judge", version="1.0", base=BASE, home=home)
        assert {path.name for path in home.iterdir()} == {"judge", other.name, f"{other.name}.lock"}
    assert {path.name for path in home.iterdir()} == {"judge"}


def test_an_adapter_is_published_for_no_base_but_the_one_it_was_trained_on(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="was trained on another base model"):
        publish(run, name="judge", version="1.0", base=OTHER, home=tmp_path / "home")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "cannot be read"),
        ("[]", "valid dictionary"),
        ('{"dev": {"scaled_accuracy": "high"}}', r"dev\.scaled_accuracy"),
        ('{"base_sha256": 7}', "base_sha256"),
    ],
)
def test_a_result_that_cannot_be_read_is_named_and_nothing_is_published(
    run: Path, tmp_path: Path, text: str, told: str
) -> None:
    (run.parent / "result.json").write_text(text)
    with pytest.raises(UserError, match=rf"result\.json.*{told}"):
        publish(run, name="judge", version="1.0", base=BASE, home=tmp_path / "home")
    assert not (tmp_path / "home").exists()
    (run.parent / "result.json").unlink()
    made, _ = publish(run, name="judge", version="1.0", base=BASE, home=tmp_path / "home")
    assert (made.card.dataset, made.card.metrics) == ("not stated", {})


def test_a_pickle_is_never_published(run: Path, tmp_path: Path) -> None:
    (run / "adapter_model.bin").write_bytes(b"code")
    with pytest.raises(UserError, match=r"adapter_model\.bin"):
        publish(run, name="judge", version="1.0", base=BASE, home=tmp_path / "home")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"r": 7}, "not of rank 7"),
        ({"r": 0}, "rank 0"),
        ({"lora_alpha": float("nan")}, "alpha nan"),
        ({"lora_alpha": None}, "not a LoRA's configuration"),
        ({"use_dora": True}, "not a plain LoRA: use_dora"),
    ],
)
def test_a_configuration_that_its_weights_do_not_bear_out_is_never_published(
    run: Path, tmp_path: Path, changes: dict[str, Any], complaint: str
) -> None:
    config = json.loads((run / "adapter_config.json").read_text())
    (run / "adapter_config.json").write_text(json.dumps(config | changes))
    with pytest.raises(UserError, match=complaint):
        publish(run, name="judge", version="1.0", base=BASE, home=tmp_path / "home")


def test_weights_that_cannot_be_read_or_are_no_numbers_are_never_published(run: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"name": "judge", "version": "1.0", "base": BASE, "home": tmp_path / "home"}
    weights = run / "adapter_model.safetensors"
    save_file({name: tensor * torch.nan for name, tensor in load_file(weights).items()}, weights)
    with pytest.raises(UserError, match="weights that are no numbers"):
        publish(run, **given)
    weights.write_bytes(b"\x80\x04 a pickle by another name")
    with pytest.raises(UserError, match="no whole safetensors file"):
        publish(run, **given)


def test_an_adapter_that_names_no_base_needs_to_be_told_which(run: Path) -> None:
    config = json.loads((run / "adapter_config.json").read_text())
    (run / "adapter_config.json").write_text(json.dumps(config | {"base_model_name_or_path": None}))
    asked = ["publish", str(run), "--name", "judge", "--version", "1", "--verify", "0"]
    answer = CliRunner().invoke(adapters, asked)
    assert isinstance(answer.exception, UserError)
    assert "--base" in answer.exception.fix


def test_a_saved_adapter_put_back_gives_the_logits_it_was_trained_to(tmp_path: Path) -> None:
    model = trained(tmp_path)
    config = json.loads((tmp_path / "adapter_config.json").read_text())
    fresh = tiny_model()
    lora.attach(fresh, layers=config["target_modules"], rank=config["r"], alpha=config["lora_alpha"], dropout=0, seed=0)
    lora.begin(fresh, adapter.mean_update([tmp_path]))
    ids = torch.arange(20)[None] + 20
    for one in (model, fresh):
        one.set_attn_implementation("sdpa")
    with torch.no_grad():
        torch.testing.assert_close(fresh(ids).logits, model(ids).logits, atol=2e-2, rtol=2e-2)


def agreement(different: int) -> Agreement:
    one = np.tile([0.7, 0.2, 0.1], (100, 1))
    other = one.copy()
    other[:different] = [0.3, 0.6, 0.1]
    return Agreement(tuple(map(str, range(100))), one, other)


def test_two_of_a_hundred_may_differ_and_are_named_and_three_may_not() -> None:
    agreement(2).require()
    assert agreement(2).differences()[0] == "0: correct (P(error) 0.200), served error (P(error) 0.600)"
    assert agreement(2).apart == pytest.approx(0.4 * 2 / 100)
    with pytest.raises(UserError, match="only 97% of 100"):
        agreement(3).require()


def test_rows_to_verify_are_the_same_each_time_and_hold_twins_together(tmp_path: Path) -> None:
    row = dict.fromkeys(TEXTS, "x") | {"label": "correct", "weight": 1.0}
    rows = [row | {"sample_id": str(number), "twin_id": str(number // 2)} for number in range(50)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "dev.parquet")
    drawn = rows_to_verify(tmp_path / "dev.parquet", 10)
    assert drawn == rows_to_verify(tmp_path / "dev.parquet", 10)
    assert len({row["sample_id"] for row in drawn}) == 10
    assert len({row["twin_id"] for row in drawn}) == 5


@pytest.mark.engine
def test_the_shipped_small_adapter_decides_when_served_as_when_trained(tmp_path: Path) -> None:
    from excam.models import resolve

    base = resolve("smollm2-135m")
    shipped = resolve_adapter("excam-smollm2-135m")
    folder = tmp_path / "adapter"
    folder.mkdir()
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        shutil.copyfile(shipped.path / name, folder / name)
    shared = {"report": '{"errors": []}', "label": "correct", "origin": "none", "weight": 1.0}
    shared |= {"source": "made", "group": "meals"}
    asked = [(place, meal) for place in ("Japanese", "Greeks", "Peruvians") for meal in ("Sushi.", "Feta.", "Ceviche.")]
    rows = [
        {**shared, "sample_id": f"{number}", "twin_id": None, "instruction": f"What do {place} eat?", "output": meal}
        for number, (place, meal) in enumerate(asked)
    ]
    made, found = publish(folder, name="again", version="1", base=base, home=tmp_path / "home", rows=rows)
    assert found is not None
    assert found.same >= 0.98
    assert found.apart < 0.05
    assert made.card.metrics["verified_pairs"] == len(rows)
    assert made.sha256 == shipped.sha256
