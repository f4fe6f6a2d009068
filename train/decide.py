"""Ask the model for its decisions on a file of tokens, and for a sample of whole reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from excam.report import ErrorReport, Status, parse_report
from train.attention import NAME
from train.batches import in_order, pack
from train.examples import ERROR, Examples
from train.figures import Decisions
from train.step import OnDevice, decision_logits, hidden_states


@torch.no_grad()
def decide(model: Any, examples: Examples, chosen: Sequence[int], batch_tokens: int, device: torch.device) -> Decisions:
    """The decision on each chosen example: one forward pass, the head at three tokens only."""
    was_training = model.training
    model.eval()
    decisions = torch.tensor(examples.decisions, device=device)
    order: list[int] = []
    logits: list[torch.Tensor] = []
    with torch.compiler.set_stance("force_eager"):  # a second compilation would cost more than it saves here
        for turns in in_order(examples, chosen, batch_tokens):
            batch = OnDevice.of(pack(examples, turns, batch_tokens), device)
            logits.append(decision_logits(model, hidden_states(model, batch), batch, decisions))
            order += [turn.index for turn in turns]
    model.train(was_training)
    return Decisions(np.array(order, np.int64), torch.cat(logits).cpu().numpy(), examples.dataset)


def sample(examples: Examples, count: int, seed: int = 0) -> list[int]:
    """At most ``count`` examples, the same share of every source, twins together."""
    if count >= len(examples):
        return list(range(len(examples)))
    first = np.flatnonzero((examples.twin < 0) | (np.arange(len(examples)) < examples.twin))
    drawn = np.random.default_rng(seed).permutation(first)
    chosen: list[int] = []
    for index in drawn.tolist():
        chosen += [index] if examples.twin[index] < 0 else [index, int(examples.twin[index])]
        if len(chosen) >= count:
            break
    return chosen


@torch.no_grad()
def write_reports(
    model: Any, examples: Examples, tokenizer: Any, count: int, device: torch.device, max_tokens: int = 256
) -> dict[str, Any]:
    """Let the model write reports on pairs with an error, and count those that cannot be parsed.

    Once freely from the prompt, as a judge begins; once from the error decision on, as it goes on above a threshold.
    """
    wrong = np.flatnonzero(examples.label == ERROR)
    chosen = np.random.default_rng(1).permutation(wrong)[:count].tolist()
    prompts = [examples.tokens(index)[: examples.prompt[index]].tolist() for index in chosen]
    begun = [*examples.opening, examples.decisions[ERROR]]
    free = _generate(model, prompts, examples.end, device, max_tokens)
    forced = _generate(model, [[*prompt, *begun] for prompt in prompts], examples.end, device, max_tokens)
    free_texts = [tokenizer.decode(ids, skip_special_tokens=True) for ids in free]
    forced_texts = [tokenizer.decode([*begun, *ids], skip_special_tokens=True) for ids in forced]
    parsed = [parse_report(text) for text in forced_texts]
    return {
        "reports": len(chosen),
        "free_failures": sum(not isinstance(parse_report(text), ErrorReport) for text in free_texts),
        "failures": sum(not (isinstance(one, ErrorReport) and one.status is Status.ERROR) for one in parsed),
        "samples": [
            {"index": index, "prompt": tokenizer.decode(prompt), "free": a, "from_error": b}
            for index, prompt, a, b in zip(chosen, prompts, free_texts, forced_texts, strict=True)
        ],
    }


def _generate(model: Any, prompts: list[list[int]], end: int, device: torch.device, max_tokens: int) -> list[list[int]]:
    """Greedy decoding with the library's own loop and attention, not compiled, all prompts at once."""
    if not prompts:
        return []
    widest = max(map(len, prompts))
    ids = torch.full((len(prompts), widest), end, device=device)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, widest - len(prompt) :] = torch.tensor(prompt, device=device)
        mask[row, widest - len(prompt) :] = 1
    was_training = model.training
    model.eval()
    model.set_attn_implementation("sdpa")
    try:
        with torch.compiler.set_stance("force_eager"):
            written = model.generate(
                input_ids=ids,
                attention_mask=mask,
                max_new_tokens=max_tokens,
                do_sample=False,
                use_cache=True,
                eos_token_id=end,
                pad_token_id=end,
            )[:, widest:].tolist()
    finally:
        model.set_attn_implementation(NAME)
        model.train(was_training)
    return [row[: row.index(end)] if end in row else row for row in written]
