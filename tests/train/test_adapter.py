"""Adapters: saved as peft saves them, cut by SVD without loss where the rank suffices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from excam.fault import UserError
from tests.train.conftest import tiny_model
from train import adapter, lora


def adapted(rank: int = 6, seed: int = 1) -> Any:
    model = tiny_model()
    lora.attach(model, layers=["q_proj", "v_proj", "down_proj"], rank=rank, alpha=3.0, dropout=0, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for part in lora.parameters(model).values():
            part.copy_(torch.randn(part.shape, generator=generator) * 0.2)
    model.set_attn_implementation("sdpa")
    return model.eval()


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = model(torch.arange(20)[None] + 20).logits
    return found


def test_a_fresh_adapter_changes_nothing() -> None:
    model = tiny_model()
    model.set_attn_implementation("sdpa")
    before = logits(model.eval())
    lora.attach(model, layers=["q_proj", "up_proj"], rank=4, alpha=8, dropout=0, seed=0)
    torch.testing.assert_close(logits(model), before)


@pytest.mark.parametrize(("trained", "rank"), [(6, None), (6, 6), (20, None), (40, 34)])
def test_peft_loads_what_was_saved_and_gives_the_same_logits(tmp_path: Path, trained: int, rank: int | None) -> None:
    """Also where the rank is higher than v_proj (16) or than every layer (32) is wide."""
    from peft import PeftModel

    model = adapted(trained)
    adapter.save(model, tmp_path, base="tiny", rank=rank)
    plain = tiny_model()
    plain.set_attn_implementation("sdpa")
    loaded = PeftModel.from_pretrained(plain, tmp_path).eval()
    torch.testing.assert_close(logits(loaded), logits(model), atol=2e-2, rtol=2e-2)
    assert (logits(loaded) - logits(tiny_model_alone())).abs().max() > 0.1


def tiny_model_alone() -> Any:
    plain = tiny_model()
    plain.set_attn_implementation("sdpa")
    return plain.eval()


def test_cutting_is_exact_where_the_rank_suffices_and_the_best_approximation_elsewhere() -> None:
    model = adapted(rank=6)
    one = next(iter(lora.adapters(model).values()))
    update = one.scale * one.up @ one.down
    down, up = lora.factors(one, 6)
    torch.testing.assert_close(up @ down, update, atol=1e-5, rtol=1e-4)
    down, up = lora.factors(one, 2)
    values = torch.linalg.svdvals(update)
    torch.testing.assert_close(torch.linalg.norm(up @ down - update), values[2:].norm(), atol=1e-5, rtol=1e-4)


def test_training_may_begin_with_the_mean_of_saved_adapters(tmp_path: Path) -> None:
    saved = [adapted(rank=3, seed=seed) for seed in (1, 2)]
    for number, model in enumerate(saved):
        adapter.save(model, tmp_path / str(number), base="tiny")
    updates = adapter.mean_update([tmp_path / "0", tmp_path / "1"])
    wide = adapted(rank=8, seed=5)
    lora.begin(wide, updates)
    narrow = adapted(rank=6, seed=5)
    lora.begin(narrow, updates)
    for one, other, *found in zip(*(lora.adapters(model).values() for model in (*saved, wide, narrow)), strict=True):
        mean = (one.scale * one.up @ one.down + other.scale * other.up @ other.down) / 2
        for begun in found:
            torch.testing.assert_close(begun.scale * begun.up @ begun.down, mean, atol=1e-2, rtol=2e-2)
        assert found[0].down[6:].abs().min() > 0, "what rank is left can train, too"


def test_an_adapter_of_a_higher_rank_is_cut_to_its_best_part(tmp_path: Path) -> None:
    model = adapted(rank=6)
    adapter.save(model, tmp_path, base="tiny")
    begun = adapted(rank=2, seed=3)
    lora.begin(begun, adapter.mean_update([tmp_path]))
    lora.shrink(model, 2)
    for one, other in zip(lora.adapters(model).values(), lora.adapters(begun).values(), strict=True):
        torch.testing.assert_close(
            other.scale * other.up @ other.down, one.scale * one.up @ one.down, atol=1e-2, rtol=2e-2
        )


def test_training_may_begin_with_a_share_of_an_update(tmp_path: Path) -> None:
    model = adapted(rank=3)
    adapter.save(model, tmp_path, base="tiny")
    begun = adapted(rank=4, seed=3)
    lora.begin(begun, adapter.mean_update([tmp_path]), 0.5)
    for one, other in zip(lora.adapters(model).values(), lora.adapters(begun).values(), strict=True):
        half = one.scale * one.up @ one.down / 2
        torch.testing.assert_close(other.scale * other.up @ other.down, half, atol=1e-2, rtol=2e-2)


def test_an_adapter_of_other_layers_or_of_another_shape_is_refused(tmp_path: Path) -> None:
    adapter.save(adapted(), tmp_path, base="tiny")
    other = tiny_model()
    lora.attach(other, layers=["k_proj"], rank=2, alpha=2, dropout=0, seed=0)
    with pytest.raises(UserError, match="other layers"):
        lora.begin(other, adapter.mean_update([tmp_path]))
    wider = tiny_model(hidden=64)
    lora.attach(wider, layers=["q_proj", "v_proj", "down_proj"], rank=2, alpha=2, dropout=0, seed=0)
    with pytest.raises(UserError, match="q_proj has another shape"):
        lora.begin(wider, adapter.mean_update([tmp_path]))
    with pytest.raises(UserError, match="no layer called nose"):
        lora.attach(tiny_model(), layers=["nose"], rank=2, alpha=2, dropout=0, seed=0)
    with pytest.raises(UserError, match="holds no adapter"):
        adapter.mean_update([tmp_path / "nowhere"])


def test_a_cut_adapter_keeps_its_rank_while_it_trains_on() -> None:
    model = adapted(rank=6)
    lora.shrink(model, 2)
    parameters = list(lora.parameters(model).values())
    optimizer = torch.optim.AdamW(parameters, lr=0.05)
    for _ in range(3):
        model(torch.arange(20)[None] + 20).logits.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    for one in lora.adapters(model).values():
        assert int(torch.linalg.matrix_rank(one.up @ one.down, atol=1e-5)) == 2
