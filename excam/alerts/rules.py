"""The rules of alerts, as a YAML file holds them.

A rule with a mistake turns no other off: it is set aside under its name, and whoever checks the others tells of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator, model_validator

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

_FIX = "see docs/dashboard.md for an example"


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
    rules: list[Rule]
    _broken: dict[str, UserError] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [rule.name for rule in self.rules]
        if len(set(names)) < len(names):
            raise ValueError("two rules have the same name")
        return self

    @property
    def broken(self) -> dict[str, UserError]:
        """What is wrong with the rules that were set aside, by their names."""
        return self._broken

    @classmethod
    def load(cls, file: Path) -> Rules:
        """Every rule of the file; a mistake in one is an error."""
        rules = cls.load_sound(file)
        for fault in rules.broken.values():
            raise fault
        return rules

    @classmethod
    def load_sound(cls, file: Path) -> Rules:
        """The rules without a mistake, the others set aside; only a file that cannot be understood is an error."""
        try:
            given = yaml.safe_load(file.read_text("utf-8"))
        except OSError as error:
            raise UserError(f"{file} cannot be read: {error.strerror}", "name a readable file") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UserError(f"{file} is not YAML in UTF-8", _FIX) from error
        listed = given.get("rules") if isinstance(given, dict) else None
        if not isinstance(listed, list) or not listed:
            raise UserError(f"{file}: rules: there must be a list with at least one rule", _FIX)
        sound, broken = _parted(file, listed)
        try:
            rules = cls.model_validate({**given, "rules": sound})
        except ValidationError as error:
            raise UserError(f"{file}: {_first(error)}", _FIX) from error
        rules._broken = broken
        return rules


def _parted(file: Path, listed: list[object]) -> tuple[list[Rule], dict[str, UserError]]:
    """Rules that can be checked, and by name what is wrong with the others."""
    sound: dict[str, Rule] = {}
    broken: dict[str, UserError] = {}
    for number, given in enumerate(listed, start=1):
        named = given.get("name") if isinstance(given, dict) else None
        name = str(named or f"rule {number}")[:100]
        try:
            rule = Rule.model_validate(given)
        except ValidationError as error:
            broken[name] = UserError(f"{file}: rule {name!r}: {_first(error)}", _FIX)
            continue
        if name in sound:
            broken[name] = UserError(f"{file}: two rules have the same name, {name!r}", "give one of them another name")
        else:
            sound[name] = rule
    return list(sound.values()), broken


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    told = first["msg"].removeprefix("Value error, ")
    return f"{where}: {told}" if where else told
