"""Where does the time of a training step go, and does the host keep the GPU busy?

Real steps on real tokens, after some to compile. First timed as they are: tokens a second and, on an H200, the share of
its peak. Then a few under the profiler: time by kind of work and the operations that take most, and ``busy``, the share
of the undisturbed time that a GPU worked. Where it is well below 1 the host is too slow at giving it work, and larger
batches would be free; where it is about 1 only less or cheaper work helps. (On a CPU it says nothing: host and device
are one.) At last as many steps fed as a run feeds them, each batch packed while the one before it trains. The last line
is ``busy SHARE products SHARE fed RATIO``: shares of the device's time, and fed steps against those whose batches lay
ready.

    python -m train.tokenise DATA/train.parquet train.npz --model FOLDER
    python -m bench.training --tokens train.npz --model FOLDER --recipe qwen2.5-coder-0.5b
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

from train import attention, lora, model
from train.batches import epoch, pack
from train.examples import Examples
from train.feed import feed
from train.recipe import Recipe, read_changes
from train.step import OnDevice, Weights, make_optimizer, train_step

KINDS = {
    "compiled, pointwise": r"^triton",
    "attention": r"flash|fmha|scaled_dot_product|efficient_attention",
    "matrix products": r"gemm|nvjet|cutlass|xmma|cublas|splitk|aten::(add|b)?mm\b",
    "gathering": r"index|gather|scatter|aten::cat\b|CatArray",
    "optimizer": r"adam|multi_tensor|foreach",
}
"""What a kernel's or an operation's name says it does; the first that fits counts."""

Times = dict[str, float]


def kind_of(name: str) -> str:
    """The kind of work behind the name of a kernel (on a GPU) or of an operation (on a CPU)."""
    return next((kind for kind, form in KINDS.items() if re.search(form, name, re.I)), "everything else")


def by_kind(times: Times) -> Times:
    """Seconds by kind, the longest first."""
    found: Times = {}
    for name, seconds in times.items():
        found[kind_of(name)] = found.get(kind_of(name), 0.0) + seconds
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))


class Steps:
    """A training run's own steps, on batches that lie on the device already or are packed as they go."""

    def __init__(self, network: Any, examples: Examples, recipe: Recipe, batches: int) -> None:
        self.network, self.recipe = network, recipe
        self.device = next(network.parameters()).device
        self.decisions = torch.tensor(examples.decisions, device=self.device)
        self.optimizer = make_optimizer(lora.parameters(network).values(), recipe)
        room, share = recipe.batch_tokens, recipe.report_share
        turns = epoch(examples, seed=0, number=0, batch_tokens=room, balance=recipe.balance, report_share=share)
        chosen = list(itertools.islice(enumerate(turns), batches))
        packed = (pack(examples, turn, room) for _, turn in chosen)
        ready = [OnDevice.of(batch, self.device) for batch in packed]
        self.layout = type(ready[0].layout).__name__.lower()
        self.batches: Iterator[OnDevice] = itertools.cycle(ready)
        fed = feed(itertools.cycle(chosen), lambda _, turn: pack(examples, turn, room), self.device)
        self.fed = (batch for _, batch in fed)

    def run(self, count: int, *, fed: bool = False) -> float:
        """Seconds that so many steps take, until the device has done them."""
        recipe = self.recipe
        weights = Weights.of(recipe, 1)
        begun = time.monotonic()
        for batch in itertools.islice(self.fed if fed else self.batches, count):
            train_step(self.network, self.optimizer, batch, self.decisions, weights, recipe.clip)
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.monotonic() - begun

    def profiled(self, count: int) -> Times:
        """Seconds a step by the name of the kernel, or of the operation where there is no GPU."""
        cuda = self.device.type == "cuda"
        kinds = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if cuda else [])]
        with profile(activities=kinds, acc_events=True) as seen:
            self.run(count)
        events: Iterable[Any] = seen.key_averages()
        own, here = ("self_device_time_total", "CUDA") if cuda else ("self_cpu_time_total", "CPU")
        return {event.key: getattr(event, own) / 1e6 / count for event in events if event.device_type.name == here}


def drawn(path: Path, recipe: Recipe, device: torch.device) -> Any:
    """A network as :func:`train.model.load` gives it, but for its weights."""
    from transformers import AutoConfig, AutoModelForCausalLM

    attention.register()
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    config = AutoConfig.from_pretrained(path, local_files_only=True)
    with device:
        network = AutoModelForCausalLM.from_config(config, attn_implementation=attention.NAME, dtype=dtype)
    return model.prepare(network, recipe)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=Path, required=True, help="from train.tokenise")
    parser.add_argument("--model", type=Path, required=True, help="folder of the base model")
    parser.add_argument(
        "--random", action="store_true", help="draw its weights: its config.json is enough, and as fast"
    )
    parser.add_argument("--recipe", default="qwen2.5-coder-0.5b")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="change the recipe")
    parser.add_argument("--warm", type=int, default=10, help="steps before any is timed")
    parser.add_argument("--steps", type=int, default=20, help="steps to time, and a quarter of them to profile")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    asked = parser.parse_args()
    recipe = Recipe.load(asked.recipe, **read_changes(asked.set))
    begin = drawn if asked.random else model.load
    network = begin(asked.model, recipe, torch.device(asked.device))
    steps = Steps(network, Examples.load(asked.tokens), recipe, asked.steps)
    steps.run(asked.warm)
    each = steps.run(asked.steps) / asked.steps
    times = steps.profiled(max(1, asked.steps // 4))
    fed = steps.run(asked.steps, fed=True) / asked.steps
    kinds, worked = by_kind(times), sum(times.values())
    speed = recipe.batch_tokens / each
    mfu = speed * model.flops_per_token(network) / model.H200_BF16_FLOPS
    print(
        f"{each * 1e3:.0f} ms a step of {recipe.batch_tokens:,} tokens, attention by {steps.layout}, "
        f"{speed:,.0f} tokens/s, MFU of an H200 {mfu:.1%}"
    )
    for kind, seconds in kinds.items():
        print(f"{kind:<60}{seconds * 1e3:>9.1f} ms{seconds / worked:>7.0%}")
    print()
    for name, seconds in sorted(times.items(), key=lambda entry: -entry[1])[:15]:
        print(f"{name[:58]:<60}{seconds * 1e3:>9.1f} ms{seconds / worked:>7.0%}")
    busy, products = worked / each, kinds.get("matrix products", 0.0) / worked
    if asked.json:
        figures = {"seconds": each, "fed": fed, "speed": speed, "mfu": mfu, "busy": busy, "kinds": kinds}
        asked.json.write_text(json.dumps(figures, indent=1))
    print(f"busy {busy:.2f} products {products:.2f} fed {fed / each:.2f}")


if __name__ == "__main__":
    main()
