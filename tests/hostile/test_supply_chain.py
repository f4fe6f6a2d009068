"""What is installed is licensed as listed, and what a user points at is data: no pickle is ever loaded from it."""

from __future__ import annotations

import ast
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.licences import LOCK, PAGE, faults, is_refused, listed
from excam.fault import UserError
from excam.models.adapters import resolve_adapter
from excam.models.base import resolve

ROOT = Path(__file__).parent.parent.parent
SHIPPED = ("excam", "serve", "pipelines", "train")

# The two places that unpickle, and why that is no user's file.
ALLOWED = {
    ("pipelines/reading.py", "pickle.loads"): "what the driver pickled a moment before, inside Ray's own object store",
    ("train/checkpoint.py", "torch.load"): "weights_only=True: tensors and plain containers, no code",
}
UNPICKLING = {
    "pickle.load",
    "pickle.loads",
    "torch.load",
    "joblib.load",
    "dill.load",
    "dill.loads",
    "cloudpickle.loads",
}


def test_every_package_of_the_lock_file_is_listed_with_an_acceptable_licence() -> None:
    assert faults(LOCK.read_text("utf-8"), PAGE.read_text("utf-8")) == []
    assert len(listed(PAGE.read_text("utf-8"))) > 150


@pytest.mark.parametrize(
    ("licence", "refused"),
    [
        ("GPLv2", True),
        ("AGPL-3.0-only", True),
        ("GNU General Public License v3 (GPLv3)", True),
        ("LGPL-2.1-only", False),
        ("GNU Lesser General Public License v3 or later (LGPLv3+)", False),
        ("GPL-2.0-only OR MIT", False),
        ("Apache-2.0", False),
    ],
)
def test_strong_copyleft_is_told_from_the_rest(licence: str, refused: bool) -> None:
    assert is_refused(licence) is refused


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def test_nothing_shipped_unpickles_but_where_it_is_no_users_file() -> None:
    found = set()
    for path in (path for folder in SHIPPED for path in (ROOT / folder).rglob("*.py")):
        for name, call in calls(path):
            given = {word.arg: ast.unparse(word.value) for word in call.keywords}
            if name in UNPICKLING:
                found.add((str(path.relative_to(ROOT)), name))
                assert name != "torch.load" or given.get("weights_only") == "True"
            if name.endswith("np.load") or name == "numpy.load":
                assert given.get("allow_pickle") == "False", path
            assert name not in ("yaml.load", "yaml.unsafe_load", "yaml.full_load", "eval", "exec"), path
            assert given.get("trust_remote_code", "False") == "False", path
    assert found == set(ALLOWED)


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace

    def __reduce__(self) -> Any:
        return (Path.touch, (self._trace,))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    pickle.loads(pickle.dumps(Bomb(tmp_path / "armed")))
    assert (tmp_path / "armed").exists(), "the bomb of this test does not go off"
    return tmp_path / "trace"


PICKLED = ("adapter_model.bin", "model.pt", "x.pkl", "pytorch_model.bin", "state.pth", "a.ckpt", "b.pickle", "c.joblib")


@pytest.mark.parametrize("name", PICKLED)
def test_a_folder_with_pickled_weights_is_refused_and_nothing_in_it_runs(
    tmp_path: Path, trace: Path, name: str
) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / name).write_bytes(pickle.dumps(Bomb(trace)))
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"}))
    (folder / "adapter_config.json").write_text(json.dumps({"r": 8, "peft_type": "LORA"}))
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(UserError):
        resolve_adapter(folder)
    with pytest.raises(UserError):
        resolve(str(folder))
    assert not trace.exists()


def test_engine_and_training_load_safetensors_and_nothing_else() -> None:
    arguments = (ROOT / "serve" / "engine_arguments.py").read_text("utf-8")
    assert '"load_format": "safetensors"' in arguments
    for name, call in calls(ROOT / "train" / "model.py"):
        if name.endswith("from_pretrained"):
            given = {word.arg: ast.unparse(word.value) for word in call.keywords}
            assert given["use_safetensors"] == given["local_files_only"] == "True"


def test_a_pickle_that_calls_itself_safetensors_does_not_run(tmp_path: Path, trace: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = tmp_path / "adapter_model.safetensors"
    path.write_bytes(pickle.dumps(Bomb(trace)))
    with pytest.raises(SafetensorError):
        load_file(path)
    assert not trace.exists()
