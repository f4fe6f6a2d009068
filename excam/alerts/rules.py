"""The rules of alerts, as a YAML file holds them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from excam.fault import UserError
from excam.taxonomy import Category

SHARES = {
    "dead_letter_share": "of the records could not be judged",
    "speaks_to_judge_share": "of the pairs speak to the judge",
}

# What each kind of rule can be narrowed by, and whether it has a level; whatever else stands there would go unread.
_NARROWED = ("by", "country", "app", "model")
_READ = {
    "rate_above": {"level", *_NARROWED, "type"},
    "rate_risen": {*_NARROWED, "type"},
    "dead_letter_share": {"level"},
    "speaks_to_judge_share": {"level", *_NARROWED},
    "no_traffic": {"country", "app", "model"},
}


class Rule(BaseModel):
    """One thing to be told about; every rule looks at its last ``days`` and keeps quiet below ``floor`` answers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=100)
    kind: Literal["rate_above", "rate_risen", "dead_letter_share", "speaks_to_judge_share", "no_traffic"]
    level: float | None = Field(None, ge=0, le=1, description="rate or share from which it fires")
    days: int = Field(7, ge=1, le=366, description="how many days it looks at")
    against_days: int = Field(28, ge=1, le=366, description="the days before those, for rate_risen")
    floor: int = Field(100, ge=1, description="answers below which nothing is said")
    p: float = Field(0.01, gt=0, lt=1, description="how unlikely chance must be to have made the rise")
    by: Literal["country", "app", "model"] | None = Field(None, description="look at each of them by itself")
    country: str | None = None
    app: str | None = None
    model: str | None = None
    type: Category | None = Field(None, description="count only errors of this category")
    judge: str | None = None

    @field_validator("country", mode="before")
    @classmethod
    def _known_country(cls, given: object) -> object:
        from excam.country import from_yaml, normalise

        if not isinstance(name := from_yaml(given), str):
            return name
        if (code := normalise(name)) is None:
            raise ValueError(f"{name!r} is no country this version knows; try its two-letter code, such as ID")
        return code

    @model_validator(mode="after")
    def _level_where_needed(self) -> Self:
        if self.kind in ("rate_above", *SHARES) and self.level is None:
            raise ValueError(f"{self.kind} needs a level")
        return self

    @model_validator(mode="after")
    def _nothing_unread(self) -> Self:
        every = {name for names in _READ.values() for name in names}
        if unread := sorted(name for name in every - _READ[self.kind] if getattr(self, name) is not None):
            raise ValueError(f"{self.kind} does not look at {' or '.join(unread)}: take it out of this rule")
        return self


class Rules(BaseModel):
    """A file of rules: where to send what they find, and the dashboard that explains it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    webhook: str | None = Field(None, pattern=r"^https?://", description="EXCAM_ALERT_WEBHOOK keeps it out of the file")
    dashboard: str = Field("", description="address of the dashboard, for links")
    rules: list[Rule] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [rule.name for rule in self.rules]
        if len(set(names)) < len(names):
            raise ValueError("two rules have the same name")
        return self

    @classmethod
    def load(cls, file: Path) -> Rules:
        fix = "see docs/dashboard.md for an example"
        try:
            return cls.model_validate(yaml.safe_load(file.read_text("utf-8")))
        except OSError as error:
            raise UserError(f"{file} cannot be read: {error.strerror}", "name a readable file") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UserError(f"{file} is not YAML in UTF-8", fix) from error
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise UserError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}", fix) from error
