"""The step: packed and headless where nothing is predicted, yet equal to the plain way of doing it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.train.conftest import DECISIONS, tiny_model, toy_examples
from train import lora
from train.batches import epoch, pack
from train.examples import Examples
from train.model import compile_layers, prepare
from train.recipe import Recipe
from train.step import (
    CONTRAST,
    OnDevice,
    Weights,
    decision_logits,
    hidden_states,
    losses,
    make_optimizer,
    total,
    train_step,
)

CPU = torch.device("cpu")
TOKENS = 256


def first_batch(examples: Examples) -> Any:
    turns = next(epoch(examples, seed=0, number=0, batch_tokens=TOKENS, balance=0.5, report_share=0.5))
    return pack(examples, turns, TOKENS)


@pytest.mark.parametrize("family", ["qwen2", "llama"])
def test_packed_sequences_give_the_states_each_would_have_alone(family: str, examples: Examples) -> None:
    model, batch = tiny_model(family).eval(), first_batch(examples)
    packed = hidden_states(model, OnDevice.of(batch, CPU))
    model.set_attn_implementation("sdpa")
    for sequence in batch.sequences:
        alone = model.get_decoder()(input_ids=torch.from_numpy(batch.ids[sequence])[None]).last_hidden_state[0]
        torch.testing.assert_close(packed[sequence], alone, atol=1e-5, rtol=1e-4)


def test_the_loss_equals_that_of_full_logits_over_padded_rows(examples: Examples) -> None:
    model, batch = tiny_model().eval(), first_batch(examples)
    parts = losses(model, OnDevice.of(batch, CPU), torch.tensor(DECISIONS), text=True)
    model.set_attn_implementation("sdpa")
    text, text_weights, decisions = [], [], []
    for turn in batch.turns:
        tokens = torch.from_numpy(examples.tokens(turn.index).astype(np.int64))
        logits = model(tokens[None]).logits[0]
        prompt, decided = int(examples.prompt[turn.index]), int(examples.decided[turn.index])
        last = len(tokens) if turn.whole else decided + 1
        text.append(functional.cross_entropy(logits[prompt - 1 : last - 1], tokens[prompt:last], reduction="none"))
        text_weights.append(torch.full((last - prompt,), turn.weight))
        decisions.append(logits[decided - 1, list(DECISIONS)])
    weight = torch.tensor([turn.weight for turn in batch.turns])
    rows = torch.stack(decisions)
    each = functional.cross_entropy(rows, torch.from_numpy(batch.label), reduction="none")
    torch.testing.assert_close(parts["decision"], (each * weight).sum() / weight.sum(), atol=1e-5, rtol=1e-4)
    flat, weights = torch.cat(text), torch.cat(text_weights)
    torch.testing.assert_close(parts["report"], (flat * weights).sum() / weights.sum(), atol=1e-5, rtol=1e-4)
    wrong, right = (torch.from_numpy(batch.twins[:, side].copy()) for side in (0, 1))
    margin = rows[:, 1] - rows[:, 0]
    ranked = functional.softplus(-(margin[wrong] - margin[right])) * weight[wrong]
    torch.testing.assert_close(parts["ranking"], ranked.sum() / weight[wrong].sum(), atol=1e-5, rtol=1e-4)


def test_the_loss_of_answers_is_that_of_what_twins_say_differently(examples: Examples) -> None:
    model, batch = tiny_model().eval(), first_batch(examples)
    parts = losses(model, OnDevice.of(batch, CPU), torch.tensor(DECISIONS), text=False, answer=True)
    model.set_attn_implementation("sdpa")
    likely, length = [], []
    for turn in batch.turns:
        ours = torch.from_numpy(examples.tokens(turn.index).astype(np.int64))
        twin, prompt = int(examples.twin[turn.index]), int(examples.prompt[turn.index])
        theirs = examples.tokens(twin) if twin >= 0 else ours.numpy()
        first = next((at for at in range(prompt) if at >= len(theirs) or ours[at] != theirs[at]), prompt)
        said = functional.log_softmax(model(ours[None]).logits[0, first - 1 : prompt - 1], -1)
        likely.append(said.gather(1, ours[first:prompt, None]).sum())
        length.append(prompt - first)
    wrong, right = (batch.twins[:, side].tolist() for side in (0, 1))
    weight = torch.tensor([batch.turns[row].weight for row in wrong])
    weight = weight / weight.sum()
    plain = torch.stack([-likely[row] / length[row] for row in right])
    apart = torch.stack(
        [functional.softplus(CONTRAST * (likely[w] - likely[r])) for w, r in zip(wrong, right, strict=True)]
    )
    torch.testing.assert_close(parts["answer"], (weight * plain).sum(), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(parts["contrast"], (weight * apart).sum(), atol=1e-5, rtol=1e-4)
    without = total({name: part for name, part in parts.items() if name in ("decision", "ranking")}, Weights(1, 1, 0))
    both = total(parts, Weights(1, 1, 0, answer=0.5))
    torch.testing.assert_close(both - without, 0.5 * (parts["answer"] + parts["contrast"]))


def test_words_that_both_twins_say_may_be_hidden_and_no_others(examples: Examples) -> None:
    model, batch = tiny_model().eval(), first_batch(examples)
    said = {
        int(place)
        for sequence, turn in zip(batch.sequences, batch.turns, strict=True)
        if examples.twin[turn.index] >= 0
        for place in sequence[examples.preamble : examples.common[turn.index]]
    }
    assert set(batch.said_by_both.tolist()) == said
    read: list[torch.Tensor] = []
    model.get_decoder().register_forward_pre_hook(
        lambda module, inputs, named: read.append(named["inputs_embeds"].detach()[0]), with_kwargs=True
    )
    torch.manual_seed(0)
    hidden_states(model, OnDevice.of(batch, CPU))
    hidden_states(model, OnDevice.of(batch, CPU), hide=0.5)
    plain, some = read
    gone = set(np.flatnonzero((some != plain).any(-1).numpy()).tolist())
    assert gone < said
    assert 0.3 < len(gone) / len(said) < 0.7
    assert not some[list(gone)].any()


def test_gradients_equal_those_of_sequences_run_alone(examples: Examples) -> None:
    model, batch = tiny_model(), first_batch(examples)
    lora.attach(model, layers=["q_proj", "k_proj", "v_proj", "down_proj"], rank=4, alpha=8, dropout=0, seed=0)
    for parameter in lora.parameters(model).values():
        torch.nn.init.normal_(parameter, std=0.1)
    ready = OnDevice.of(batch, CPU)
    torch.autograd.backward(
        decision_logits(model, hidden_states(model, ready), ready, torch.tensor(DECISIONS))[:, 1].sum()
    )
    packed = {
        name: parameter.grad.clone() for name, parameter in lora.parameters(model).items() if parameter.grad is not None
    }
    model.zero_grad()
    model.set_attn_implementation("sdpa")
    for turn in batch.turns:
        tokens = torch.from_numpy(examples.tokens(turn.index).astype(np.int64))
        model(tokens[None]).logits[0, int(examples.decided[turn.index]) - 1, DECISIONS[1]].backward()
    for name, parameter in lora.parameters(model).items():
        torch.testing.assert_close(packed[name], parameter.grad, atol=1e-4, rtol=1e-3)


def test_layers_that_compute_again_learn_the_same(examples: Examples) -> None:
    def learned(*, checkpointing: bool) -> dict[str, torch.Tensor]:
        recipe = Recipe(
            rank=4, alpha=8, batch_tokens=TOKENS, learning_rate=1e-2, compile=False, checkpointing=checkpointing
        )
        model = prepare(tiny_model(), recipe)
        optimizer = make_optimizer(lora.parameters(model).values(), recipe)
        batch = OnDevice.of(first_batch(examples), CPU)
        for _ in range(3):
            train_step(model, optimizer, batch, torch.tensor(DECISIONS), Weights(1, 1, 0.5), clip=1.0)
        return {name: parameter.detach() for name, parameter in lora.parameters(model).items()}

    once, again = learned(checkpointing=False), learned(checkpointing=True)
    assert all(torch.equal(once[name], again[name]) for name in once)


def test_the_loss_goes_down_and_a_gradient_that_is_not_finite_changes_nothing(examples: Examples) -> None:
    model = tiny_model()
    lora.attach(model, layers=["q_proj", "v_proj", "up_proj", "down_proj"], rank=8, alpha=16, dropout=0, seed=0)
    optimizer = make_optimizer(lora.parameters(model).values(), Recipe(learning_rate=1e-2))
    batch, decisions, weights = OnDevice.of(first_batch(examples), CPU), torch.tensor(DECISIONS), Weights(1, 1, 0.5)
    first = total(losses(model, batch, decisions, text=True), weights).item()
    for _ in range(60):
        _, finite = train_step(model, optimizer, batch, decisions, weights, clip=1.0)
        assert finite
    assert total(losses(model, batch, decisions, text=True), weights).item() < 0.8 * first
    before = {name: parameter.clone() for name, parameter in lora.parameters(model).items()}
    _, finite = train_step(model, optimizer, batch, decisions, Weights(float("inf"), 1, 0.5), clip=1.0)
    assert not finite
    assert all(torch.equal(before[name], parameter) for name, parameter in lora.parameters(model).items())


def test_layers_are_compiled_once_for_all_of_them_and_for_batches_of_any_shape(examples: Examples) -> None:
    model = tiny_model(layers=5)
    lora.attach(model, layers=["q_proj", "down_proj"], rank=4, alpha=8, dropout=0, seed=0)
    plain = hidden_states(model, OnDevice.of(first_batch(examples), CPU))
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compile_layers(model, backend="aot_eager")
    torch.testing.assert_close(hidden_states(model, OnDevice.of(first_batch(examples), CPU)), plain)
    made = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    for seed in (1, 2, 3):
        states = hidden_states(model, OnDevice.of(first_batch(toy_examples(seed=seed)), CPU))
        torch.autograd.backward(states.sum())
    assert 0 < made <= 4
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == made
