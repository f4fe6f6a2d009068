"""Who judged: the identity of a judge, stored on every verdict so that two judges' series never mix."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class JudgeCard(BaseModel):
    """Everything that can change a verdict; ``judge_version`` is its hash, so a new adapter is a new series."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: str = Field(description="name of the base model")
    base_sha256: str = Field(description="hash of the base weights as they were obtained")
    adapter: str | None = Field(default=None, description="name@version of the adapter, none for an untuned base")
    adapter_sha256: str | None = None
    prompt_sha256: str = Field(description="hash of the system and report prompts")
    decoding: dict[str, Any] = Field(description="decoding parameters, triage threshold and report form included")

    @property
    def judge_version(self) -> str:
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    @property
    def tuned(self) -> bool:
        """Whether an adapter taught this judge the task; an untuned base must be announced as such."""
        return self.adapter is not None
