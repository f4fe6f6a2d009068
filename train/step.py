"""One training step, as plain functions: a bare script and a Ray Train worker call the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from train.attention import Layout, laid_out, lay_out
from train.batches import Batch
from train.examples import CORRECT, ERROR
from train.recipe import Recipe
from train.rows import to_device

CONTRAST = 0.3
"""What the gap between two answers' log-likelihoods counts, which are sums over all their tokens."""


@dataclass(frozen=True)
class OnDevice:
    """A batch as tensors."""

    ids: Tensor
    positions: Tensor
    layout: Layout
    text_at: Tensor
    text_target: Tensor
    text_weight: Tensor
    decide_at: Tensor
    label: Tensor
    weight: Tensor
    twins: Tensor
    twin_weight: Tensor
    answer_at: Tensor
    answer_target: Tensor
    answer_turn: Tensor
    said_by_both: Tensor
    note_at: Tensor
    note_target: Tensor

    @classmethod
    def of(cls, batch: Batch, device: torch.device) -> OnDevice:
        def move(array: NDArray[Any]) -> Tensor:
            return to_device(np.ascontiguousarray(array), device)

        return cls(
            ids=move(batch.ids)[None],
            positions=move(batch.positions)[None],
            layout=lay_out(batch.sequences, len(batch.ids), device),
            text_at=move(batch.text_at),
            text_target=move(batch.text_target),
            text_weight=move(batch.text_weight),
            decide_at=move(batch.decide_at),
            label=move(batch.label),
            weight=move(batch.weight),
            twins=move(batch.twins),
            twin_weight=move(batch.twin_weight),
            answer_at=move(batch.answer_at),
            answer_target=move(batch.answer_target),
            answer_turn=move(batch.answer_turn),
            said_by_both=move(batch.said_by_both),
            note_at=move(batch.note_at),
            note_target=move(batch.note_target),
        )


@dataclass(frozen=True)
class Weights:
    """What each part of the loss counts at this moment of the run."""

    decision: float
    ranking: float
    report: float
    answer: float = 0.0
    notes: float = 0.0

    @classmethod
    def of(cls, recipe: Recipe, progress: float) -> Weights:
        """As the recipe sets them, at this progress of the run."""
        report = recipe.report_weight_at(progress)
        return cls(recipe.decision_weight, recipe.ranking_weight, report, recipe.answer_weight, recipe.notes_weight)


def hidden_states(model: Any, batch: OnDevice, hide: float = 0.0) -> Tensor:
    """The last layer's states, one a token. The head comes later, and only where something is predicted.

    ``hide`` is the share of what both twins say that the model does not get to read, drawn anew each time.
    """
    words = model.get_input_embeddings()(batch.ids)
    if hide:
        read = torch.rand(len(batch.said_by_both), device=words.device) >= hide
        words = words * torch.ones_like(words[..., :1]).index_copy(1, batch.said_by_both, read.to(words)[None, :, None])
    if torch.is_grad_enabled():
        words.requires_grad_()  # so that the first layer is compiled like all others
    decoder = model.get_decoder()
    with laid_out(batch.layout):
        found = decoder(inputs_embeds=words, position_ids=batch.positions, use_cache=False)
    states: Tensor = found.last_hidden_state[0]
    return states


def decision_logits(model: Any, states: Tensor, batch: OnDevice, decisions: Tensor) -> Tensor:
    """The logits of the three decision tokens for each example, in float32."""
    head = model.get_output_embeddings().weight
    return functional.linear(states[batch.decide_at], head[decisions]).float()


def answer_likelihood(model: Any, states: Tensor, batch: OnDevice) -> tuple[Tensor, Tensor]:
    """For each example the log-likelihood of what it says and its twin does not, and of how many tokens that is."""
    words = model.get_output_embeddings()(states[batch.answer_at]).float()
    each = -functional.cross_entropy(words, batch.answer_target, reduction="none")
    none = torch.zeros(len(batch.label), device=each.device)
    return none.index_add(0, batch.answer_turn, each), none.index_add(0, batch.answer_turn, torch.ones_like(each))


def losses(
    model: Any, batch: OnDevice, decisions: Tensor, *, text: bool, answer: bool = False, hide: float = 0.0
) -> dict[str, Tensor]:
    """The parts of the loss: the decision among three, the ranking between twins, the report's text.

    With ``answer`` also how unlikely the right one of two answers is, and how much likelier than the wrong one: a judge
    that could give the answer itself knows more than one that only tells twins apart. Where the batch has notes, how
    unlikely their answers are, too.
    """
    states = hidden_states(model, batch, hide)
    logits = decision_logits(model, states, batch, decisions)
    each = functional.cross_entropy(logits, batch.label, reduction="none")
    parts = {"decision": (each * batch.weight).sum() / batch.weight.sum()}
    margin = logits[:, ERROR] - logits[:, CORRECT]
    apart = functional.softplus(margin[batch.twins[:, 1]] - margin[batch.twins[:, 0]])
    parts["ranking"] = (apart * batch.twin_weight).sum() / batch.twin_weight.sum().clamp_min(1e-6)
    if text:
        words = model.get_output_embeddings()(states[batch.text_at]).float()
        spelled = functional.cross_entropy(words, batch.text_target, reduction="none")
        parts["report"] = (spelled * batch.text_weight).sum() / batch.text_weight.sum()
    if answer:
        likely, tokens = answer_likelihood(model, states, batch)
        wrong, right = batch.twins.unbind(1)
        share = batch.twin_weight / batch.twin_weight.sum().clamp_min(1e-6)
        parts["answer"] = -(share * likely[right] / tokens[right].clamp_min(1)).sum()
        parts["contrast"] = (share * functional.softplus(CONTRAST * (likely[wrong] - likely[right]))).sum()
    if len(batch.note_at):
        words = model.get_output_embeddings()(states[batch.note_at]).float()
        parts["notes"] = functional.cross_entropy(words, batch.note_target)
    return parts


def total(parts: dict[str, Tensor], weights: Weights) -> Tensor:
    """One number to descend on."""
    loss = weights.decision * parts["decision"] + weights.ranking * parts["ranking"]
    if "answer" in parts:
        loss = loss + weights.answer * (parts["answer"] + parts["contrast"])
    if "notes" in parts:
        loss = loss + weights.notes * parts["notes"]
    return loss + weights.report * parts["report"] if "report" in parts else loss


def train_step(
    model: Any,
    optimizer: torch.optim.Optimizer,
    batch: OnDevice,
    decisions: Tensor,
    weights: Weights,
    clip: float,
    hide: float = 0.0,
) -> tuple[dict[str, Tensor], Tensor]:
    """Descend once; false where the gradient was not finite and nothing was changed.

    With several workers every one has its own batch: gradients are averaged first, so all take the same step or none.
    Nothing here waits for the device, so that it finds the next step's work when it is done with this one's.
    """
    trained = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    parts = losses(model, batch, decisions, text=weights.report > 0, answer=weights.answer > 0, hide=hide)
    torch.autograd.backward(total(parts, weights))
    if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
        for parameter in trained:
            dist.all_reduce(parameter.grad)
            parameter.grad /= dist.get_world_size()
    finite = torch.isfinite(torch.nn.utils.clip_grad_norm_(trained, clip))
    told: Any = optimizer
    told.found_inf = (~finite).float()  # where it is 1 a fused optimizer leaves all as it is
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return {name: part.detach() for name, part in parts.items()}, finite


def make_optimizer(parameters: Iterable[torch.nn.Parameter], recipe: Recipe) -> torch.optim.AdamW:
    """AdamW over the adapter as the recipe sets it, in one kernel, which a gradient that is not finite keeps still."""
    return torch.optim.AdamW(
        list(parameters),
        lr=recipe.learning_rate,
        betas=(recipe.beta1, recipe.beta2),
        weight_decay=recipe.weight_decay,
        fused=True,
    )
