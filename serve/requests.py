"""What the engine is asked: prompts as token ids and, for each step of judging, how to decode."""

from __future__ import annotations

from typing import Any

from excam.decision import DecisionTokens
from excam.models import load_tokenizer
from excam.prompt import PromptRenderer
from excam.report import report_grammar
from serve.identity import Judge


class Requests:
    """A judge's prompts and decoding parameters, the same wherever its engine runs.

    ``decide`` asks for as many tokens as a clean report has, ``decide_forced`` for the one after a given opening;
    both also return the log-probabilities of the decision tokens that were not chosen. ``write`` goes on freely to
    the end of the report, ``write_guided`` writes it under a grammar. Answers come as token ids: vLLM would put every
    token and each of its alternatives into words by itself, in the one thread that feeds the engine.
    """

    def __init__(self, judge: Judge) -> None:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        settings = judge.settings
        tokenizer = load_tokenizer(judge.model_path)
        self.tokens = DecisionTokens.of(tokenizer)
        self.renderer = PromptRenderer(tokenizer, settings.max_prompt_tokens)
        greedy: dict[str, Any] = {"temperature": 0.0, "output_kind": RequestOutputKind.FINAL_ONLY, "detokenize": False}
        report = greedy | {"max_tokens": settings.max_report_tokens, "logprobs": 0}
        watched = sorted(self.tokens.by_status.values())
        grammar = StructuredOutputsParams(grammar=report_grammar(errors_only=not settings.full))
        self.decide = SamplingParams(max_tokens=self.tokens.longest_clean, logprob_token_ids=watched, **greedy)
        self.decide_forced = SamplingParams(max_tokens=1, logprob_token_ids=watched, **greedy)
        self.write = SamplingParams(**report)
        # To the grammar a mark such as <|im_start|> is text; whoever reads the report sees nothing there.
        marks = {ident for ident, token in tokenizer.added_tokens_decoder.items() if token.special}
        unwritten = dict.fromkeys(marks - {tokenizer.eos_token_id}, -100.0)
        self.write_guided = SamplingParams(structured_outputs=grammar, logit_bias=unwritten, **report)
