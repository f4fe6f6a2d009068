"""Training with Ray: workers die and nothing is lost, workers share and nothing is counted twice."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pyarrow.parquet as pq
import pytest
import torch
from ray.train import ControllerError

from excam.fault import UserError
from tests.train.conftest import tiny_model, toy_examples
from train import lora
from train.examples import Encoder, Examples, assemble
from train.figures import Decisions
from train.loop import Run, Trainer
from train.model import load, prepare
from train.recipe import Recipe
from train.snapshot import FILE
from train.step import Weights, losses, total

RECIPE = Recipe(rank=4, alpha=8, batch_tokens=256, learning_rate=1e-2, warmup_steps=2, epochs=9, compile=False)
ROW = {"source": "made", "group": "meals", "origin": "hard", "weight": 1.0, "sample_id": "s"}
WRONG = (
    '{"errors": [{"severity": "major", "type": "food", "location": "output", "span": "haggis", '
    '"explanation": "It is not eaten there."}]}'
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Ray on this machine, or the one that other tests already started."""
    import ray

    from serve.local_ray import start_here

    ours = not ray.is_initialized()
    if ours:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        start_here(num_cpus=2, **quiet)
    yield
    if ours:
        ray.shutdown()


@pytest.fixture(scope="module")
def smollm2() -> tuple[Any, Examples]:
    """The small model, and twins about meals as its tokens."""
    from excam.models import load_tokenizer, resolve

    base = resolve("smollm2-135m")
    encoder = Encoder(load_tokenizer(base.path), 256, 64)
    rows = []
    for number, country in enumerate(("Italy", "Japan", "Mexico", "Nigeria", "Peru", "Iran", "Ghana", "India")):
        asked = ROW | {"instruction": f"What is eaten in {country}?", "twin_id": str(number)}
        rows.append(asked | {"output": "What grows there.", "label": "correct", "report": '{"errors": []}'})
        rows.append(asked | {"output": "Mostly haggis.", "label": "error", "report": WRONG})
    return base, assemble(rows, map(encoder, rows), encoder, "made")


def run_job(base: str, sha256: str, examples: Examples, out: Path, say: Any = lambda facts: None, **more: Any) -> Path:
    from train.ray_job import fit
    from train.worker import Job

    recipe, begin = more.pop("recipe", RECIPE), more.pop("begin", None)
    of_job = {name: more.pop(name) for name in ("workers", "max_failures") if name in more}
    given = {"say_every": 1, "save_every": 2, "figures_every": 2.0, "dev_sample": 4} | more
    job = Job(base, sha256, recipe, Run(out, **given), str(out), cpus_per_worker=0.5, **of_job)
    return fit(job, examples, examples, say, begin)


def run_toy(base: Path, out: Path, **more: Any) -> Path:
    from excam.models import resolve

    return run_job(str(base), resolve(base).sha256, toy_examples(120), out, workers=2, **more)


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


def state(out: Path) -> dict[str, Any]:
    newest = max((out / "ray").glob("checkpoint_*/checkpoint.pt"), key=os.path.getmtime)
    found: dict[str, Any] = torch.load(newest, weights_only=True)
    return found


def losses_by_step(out: Path) -> dict[int, tuple[float, ...]]:
    told = [line for line in lines(out) if "decision" in line]
    assert [line["step"] for line in told] == sorted({line["step"] for line in told}), "a step was told twice"
    return {line["step"]: (line["decision"], line["ranking"], line["report"]) for line in told}


@pytest.mark.engine
@pytest.mark.usefixtures("cluster")
def test_a_killed_worker_goes_on_from_the_last_checkpoint_and_ends_as_if_it_had_lived(
    tmp_path: Path, smollm2: tuple[Any, Examples]
) -> None:
    base, examples = smollm2
    torch.set_float32_matmul_precision("high")  # as the worker does
    recipe = RECIPE.model_copy(update={"batch_tokens": 256, "learning_rate": 1e-3})
    started: list[int] = []
    killed: list[int] = []
    why: list[str] = []

    def kill(facts: Mapping[str, Any]) -> None:
        if facts.get("event") == "started":
            started.append(facts["step"])
        if facts.get("event") == "failed":
            why.append(facts["why"])
        if facts.get("step") == 3 and "decision" in facts and not killed:
            killed.append(_kill_worker())

    out = run_job(base.name, base.sha256, examples, tmp_path / "disturbed", kill, recipe=recipe, max_steps=4)
    whole = Trainer(
        load(base.path, recipe, torch.device("cpu")),
        examples,
        examples,
        recipe,
        Run(tmp_path / "whole", max_steps=4, say_every=1, figures_every=2.0),
    )
    whole.train()
    assert killed
    assert len(why) == 1
    assert "worker process has died" in why[0]
    assert started == [0, 2], "it began, and began again from the checkpoint of step 2"
    assert losses_by_step(out) == losses_by_step(tmp_path / "whole")
    found, place = state(out)["weights"], state(out)["place"]
    assert (place["step"], place["epoch"], place["batch"]) == (4, whole.place.epoch, whole.place.batch)
    for name, parameter in lora.parameters(whole.model).items():
        assert torch.equal(found[name], parameter), name


def _kill_worker() -> int:
    (worker,) = _processes("ray::RayTrainWorker")
    worker.kill()
    return worker.pid


def _processes(title: str) -> list[psutil.Process]:
    """Those of our Ray that are called so."""
    ours = {process.pid for process in psutil.Process().children(recursive=True)}
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if process.pid in ours and " ".join(process.info["cmdline"] or []).startswith(title)
    ]


class Shared(NamedTuple):
    """A toy base, the update that two workers began with, what they made of both in three steps, and how many of Ray
    Train's cleaners ran meanwhile.
    """

    base: Path
    begin: dict[str, tuple[torch.Tensor, torch.Tensor]]
    out: Path
    cleaners: list[int]

    def alone(self, folder: Path, *, begun: bool = True) -> Trainer:
        """The same training in this process."""
        found = Trainer(prepare(tiny_model(), RECIPE), toy_examples(120), toy_examples(4), RECIPE, Run(folder))
        if begun:
            lora.begin(found.model, self.begin)
        return found


@pytest.fixture(scope="module")
def shared(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Shared:
    folder = tmp_path_factory.mktemp("toy")
    tiny_model().save_pretrained(folder / "base")
    (folder / "base" / "tokenizer.json").write_text("{}")
    cleaners: list[int] = []

    def look(facts: Mapping[str, Any]) -> None:
        if facts.get("event") == "started":
            cleaners.append(len(_processes("ray::PlacementGroupCleaner")))

    random = torch.Generator().manual_seed(7)
    begin = {
        name: (one.down.detach().clone(), torch.randn(one.up.shape, generator=random) / 10)
        for name, one in lora.adapters(prepare(tiny_model(), RECIPE)).items()
    }
    out = run_toy(folder / "base", folder / "out", max_steps=3, say=look, begin=begin)
    return Shared(folder / "base", begin, out, cleaners)


def test_nobody_frees_a_jobs_workers_because_another_cluster_does_not_know_the_job(shared: Shared) -> None:
    assert shared.cleaners == [0, 0]


def test_workers_begin_with_the_adapter_they_are_given(shared: Shared, tmp_path: Path) -> None:
    def first_step(alone: Trainer) -> Any:
        parts = losses(alone.model, next(iter(alone._ready()))[1], alone.decisions, text=True)
        return pytest.approx([parts[name].item() for name in ("decision", "ranking", "report")], abs=2e-3)

    told = losses_by_step(shared.out)[1]
    assert told == first_step(shared.alone(tmp_path))
    assert told != first_step(shared.alone(tmp_path, begun=False))


def test_two_workers_take_the_step_of_their_two_batches_together(shared: Shared, tmp_path: Path) -> None:
    out = shared.out
    alone = shared.alone(tmp_path)
    batches = iter(alone._ready())
    weights = Weights(RECIPE.decision_weight, RECIPE.ranking_weight, RECIPE.report_weight_at(0))
    rates = [line["learning_rate"] for line in lines(out) if "decision" in line]
    for rate in rates:
        for _ in range(2):
            parts = losses(alone.model, next(batches)[1], alone.decisions, text=True)
            torch.autograd.backward(total(parts, weights) / 2)
        alone.optimizer.param_groups[0]["lr"] = rate
        torch.nn.utils.clip_grad_norm_(list(lora.parameters(alone.model).values()), RECIPE.clip)
        alone.optimizer.step()
        alone.optimizer.zero_grad()
    assert len(rates) == 3
    found = state(out)["weights"]
    for name, parameter in lora.parameters(alone.model).items():
        torch.testing.assert_close(found[name], parameter.detach(), atol=1e-5, rtol=1e-4)


def test_a_run_leaves_its_adapter_its_figures_and_its_metrics_as_parquet(shared: Shared) -> None:
    from excam.models import resolve

    out = shared.out
    result = json.loads((out / "result.json").read_text())
    assert (result["workers"], result["place"]["step"], result["dataset"]) == (2, 3, "toy")
    assert result["base_sha256"] == resolve(shared.base).sha256
    assert (result["without"], result["share"], result["begin"]) == ([], 1.0, [])
    assert "scaled_accuracy" in result["dev"]
    assert (out / "adapter" / "adapter_model.safetensors").stat().st_size == result["bytes"]
    assert len(Decisions.load(out / "dev-decisions.npz").index) == result["dev_pairs"]
    table = pq.read_table(out / "metrics.parquet")
    assert table.num_rows == len(lines(out))
    assert {"step", "decision", "learning_rate", "tokens_per_second"} <= set(table.column_names)


def test_a_resumed_run_goes_on_and_its_workers_agree_when_the_time_is_over(shared: Shared) -> None:
    from train.ray_job import begun

    base, out = shared.base, shared.out
    (out / "ray" / FILE).write_text("")  # as a disk leaves it that was full at the last checkpoint
    (out / "ray" / "checkpoint_half").mkdir()  # and what it took of one
    assert begun(str(out))
    assert not begun(str(out / "nowhere"))
    started: list[int] = []
    failed: list[Mapping[str, Any]] = []

    def listen(facts: Mapping[str, Any]) -> None:
        if facts.get("event") == "started":
            started.append(facts["step"])
        if facts.get("event") == "failed":
            failed.append(facts)

    spent = json.loads((out / "result.json").read_text())["place"]["seconds"]
    run_toy(base, out, say=listen, minutes=(spent + 2) / 60)
    assert not failed
    assert started == [3, 3]
    assert json.loads((out / "result.json").read_text())["place"]["step"] > 3
    assert [line["step"] for line in lines(out) if "decision" in line][:4] == [1, 2, 3, 4]
    assert not (out / "ray" / "checkpoint_half").exists()


def test_a_run_that_fails_for_good_says_why_in_plain_words(shared: Shared, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"1 attempts failed, the last with: RuntimeError: .*the driver has other"):
        run_job(str(shared.base), "other weights", toy_examples(4), tmp_path / "out", max_failures=0)


def test_a_run_stopped_by_ctrl_c_says_how_to_go_on(
    shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray Train ends the workers at Ctrl-C, and then the process with status 0, as if all were done."""
    monkeypatch.setattr("train.ray_job.JobTrainer.fit", lambda trainer: sys.exit(0))
    with pytest.raises(UserError, match="interrupted") as fault:
        run_toy(shared.base, tmp_path)
    assert "--resume" in fault.value.fix


def test_a_disk_that_is_full_for_the_leader_is_no_attempt_of_the_workers(
    shared: Shared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(trainer: Any) -> None:
        raise ControllerError(OSError(28, "No space left on device"))

    monkeypatch.setattr("train.ray_job.JobTrainer.fit", fail)
    with pytest.raises(UserError, match=r"process that leads the workers failed: .*No space left"):
        run_toy(shared.base, tmp_path)


def test_a_run_that_would_go_on_with_other_data_is_told_so_in_plain_words(shared: Shared) -> None:
    base, out = shared.base, shared.out
    with pytest.raises(UserError, match=r"began with share 1.0 and cannot go on with 0.5"):
        run_toy(base, out, share=0.5)
