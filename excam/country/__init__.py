"""Which country a pair is about, as ISO 3166 alpha-2, and how that is known; trends by country stand on this answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from excam.country.match import mentions
from excam.country.spelling import country_name, from_yaml, normalise

LOOKED_AT = 200_000  # characters of either half that are read for names: a huge field must not hold up the others

__all__ = ["CountryGuess", "country_name", "country_of", "from_yaml", "normalise"]


@dataclass(frozen=True)
class CountryGuess:
    """Every country a pair names, in order of first mention, and where the answer came from."""

    countries: tuple[str, ...]
    how: Literal["metadata", "text", "none"]

    @property
    def primary(self) -> str | None:
        """The country the pair counts for in trends: the first one named."""
        return self.countries[0] if self.countries else None


def country_of(instruction: str, output: str, metadata_country: str | None = None) -> CountryGuess:
    """Say which countries a pair is about.

    Metadata that can be read as a country wins, because whoever logged it knew; what cannot be read is ignored rather
    than trusted. Otherwise the text decides, the instruction before the output: the user sets the topic.
    """
    if metadata_country is not None and (code := normalise(metadata_country)) is not None:
        return CountryGuess((code,), "metadata")
    found = mentions(instruction[:LOOKED_AT], output[:LOOKED_AT])
    return CountryGuess(found, "text" if found else "none")
