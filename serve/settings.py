"""The judge's settings: one documented file, ``judge.yaml`` beside this one, that a user may override in part."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from excam.fault import UserError

DEFAULTS = Path(__file__).with_name("judge.yaml")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EngineSettings(_Strict):
    """Settings for the engine's speed; a verdict close to the threshold may differ where numbers are rounded."""

    max_num_seqs: Literal["auto"] | Annotated[int, Field(ge=1, le=4096)]
    gpu_memory_utilization: float = Field(gt=0, le=1)
    cpu_kv_cache_gib: int = Field(ge=1)
    compile: Literal["auto"] | bool
    merge: Literal["auto"] | bool
    cpu_engines: Literal["auto"] | Annotated[int, Field(ge=1)]
    cpu_threads: int = Field(ge=0)
    cpu_dtype: Literal["auto", "bfloat16", "float32"]


class ReplicaSettings(_Strict):
    """How many judges Ray Serve keeps, and what each is given."""

    min: int = Field(ge=0)
    max: int = Field(ge=1)
    target_ongoing_requests: float = Field(gt=0)
    max_ongoing_requests: int = Field(ge=1)
    cpus: float = Field(ge=0)
    gpus: Literal["auto"] | Annotated[float, Field(ge=0)]

    @model_validator(mode="after")
    def _no_fewer_than_the_least(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min is {self.min} and max {self.max}: raise max too")
        return self


class JudgeSettings(_Strict):
    """Everything about a judge that a user can choose; ``serve/judge.yaml`` explains each value."""

    base: str
    adapter: str
    threshold: Literal["auto"] | Annotated[float, Field(ge=0, le=1)]
    calibration: Literal["auto", "none"]
    full: bool
    second_look: bool
    max_prompt_tokens: int = Field(ge=256)
    max_report_tokens: int = Field(ge=32)
    engine: EngineSettings
    replicas: ReplicaSettings

    @classmethod
    def load(cls, path: str | Path | None = None, **changes: Any) -> JudgeSettings:
        """The defaults, then the user's file, then single values from the command line (None changes nothing)."""
        merged = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
        where = str(path) if path else "judge settings"
        if path:
            merged = _overlay(merged, _read(Path(path)))
        merged = _overlay(merged, {key: value for key, value in changes.items() if value is not None})
        try:
            return cls.model_validate(merged)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(str(step) for step in first["loc"])
            raise UserError(f"{where}, {field}: {first['msg']}", f"see {DEFAULTS.name} for every setting") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"judge settings {path} cannot be read: {error}", "give a YAML file") from error
    if not isinstance(found, dict | None):
        raise UserError(f"judge settings {path} hold no mapping", f"see {DEFAULTS.name} for the form")
    return found or {}


def _overlay(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        held = merged.get(key)
        merged[key] = _overlay(held, value) if isinstance(held, dict) and isinstance(value, dict) else value
    return merged
