"""Language models that write soft errors: anything that turns prompts into texts, over HTTP or in this process."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from excam.fault import UserError

_WAITS = (1.0, 4.0, 15.0)
_BUSY = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class GenerationFailure:
    """A prompt that got no text: the transport's reason, kept as data so that one prompt never ends a run.

    ``unreachable`` says that the server never came to the prompt, so that nothing is known about it.
    """

    reason: str
    unreachable: bool = False


class Generator(Protocol):
    """Turns prompts into texts, in order; ``name`` is recorded with everything it wrote."""

    @property
    def name(self) -> str: ...

    def generate(self, prompts: Sequence[str]) -> list[str | GenerationFailure]: ...


@dataclass(frozen=True)
class HttpGenerator:
    """Any server that speaks OpenAI's chat completions: a hosted model, or ``vllm serve`` on a machine of one's own."""

    url: str
    model: str
    api_key: str | None = None
    temperature: float = 0.7
    max_tokens: int = 2048
    concurrency: int = 8
    timeout_s: float = 300.0

    @property
    def name(self) -> str:
        return self.model

    def generate(self, prompts: Sequence[str]) -> list[str | GenerationFailure]:
        """All prompts at once, ``concurrency`` in flight; a busy server is asked again, a refusal is not."""
        with ThreadPoolExecutor(max_workers=self.concurrency) as pool:
            return list(pool.map(self._one, prompts))

    def _one(self, prompt: str) -> str | GenerationFailure:
        failure = GenerationFailure("never asked")
        for wait in (*_WAITS, None):
            try:
                return _text(self._post(prompt))
            except urllib.error.HTTPError as error:
                failure = GenerationFailure(f"HTTP {error.code}: {error.reason}", unreachable=error.code in _BUSY)
                if error.code in {401, 403, 404}:
                    raise UserError(
                        f"{self.url} answered {error.code} for model {self.model!r}",
                        "check the endpoint's address (it ends in /v1), the model's name and the API key",
                    ) from error
                if error.code not in _BUSY:
                    return failure
            except (OSError, http.client.HTTPException) as error:
                failure = GenerationFailure(f"{type(error).__name__}: {error}", unreachable=True)
            except (ValueError, KeyError, IndexError, TypeError) as error:
                return GenerationFailure(f"not a chat completion: {error}")
            if wait is not None:
                time.sleep(wait)
        return failure

    def _post(self, prompt: str) -> Any:
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        request = urllib.request.Request(
            f"{self.url.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers, method="POST"
        )
        with urllib.request.urlopen(request, timeout=self.timeout_s) as response:
            return json.load(response)


def _text(completion: Any) -> str:
    text = completion["choices"][0]["message"]["content"]
    if not isinstance(text, str):
        raise TypeError("the message has no text")
    return text


class VllmGenerator:
    """vLLM in this process: for a machine that holds the model's weights and needs no server.

    ``model`` is a folder, a name on the hub or one of our base models. A prompt that leaves no room for an answer is a
    failure of its own and not of the batch.
    """

    def __init__(self, model: str, temperature: float = 0.7, max_tokens: int = 2048, **engine: Any) -> None:
        from vllm import LLM, SamplingParams

        from excam.models import resolve

        self.name = model
        self._engine = LLM(model=str(resolve(model).path), **{"max_model_len": 8192, **engine})
        self._room = self._engine.llm_engine.model_config.max_model_len - max_tokens
        self._sampling = SamplingParams(temperature=temperature, max_tokens=max_tokens)

    def generate(self, prompts: Sequence[str]) -> list[str | GenerationFailure]:
        tokenizer = self._engine.get_tokenizer()
        long = [len(tokenizer.encode(prompt)) > self._room for prompt in prompts]
        chats = [[{"role": "user", "content": prompt}] for prompt, no in zip(prompts, long, strict=True) if not no]
        texts = iter([found.outputs[0].text for found in self._engine.chat(chats, self._sampling, use_tqdm=False)])
        return [GenerationFailure("the prompt is too long") if no else next(texts) for no in long]


def generate_with_ray(
    prompts: Sequence[str], model: str, workers: int = 1, gpus: float = 0, **engine: Any
) -> list[str]:
    """The same engine behind Ray Data, one actor a worker, for more prompts than one machine should take."""
    import ray

    class Stage:
        def __init__(self) -> None:
            self._generator = VllmGenerator(model, **engine)

        def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
            texts = self._generator.generate([str(prompt) for prompt in batch["prompt"]])
            return {"place": batch["place"], "text": [text if isinstance(text, str) else "" for text in texts]}

    rows = ray.data.from_items([{"place": place, "prompt": text} for place, text in enumerate(prompts)])
    done = rows.map_batches(Stage, concurrency=workers, num_gpus=gpus, batch_size=64).take_all()
    return [row["text"] for row in sorted(done, key=lambda row: row["place"])]
