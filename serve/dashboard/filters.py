"""The filters of a view as they stand in the address: one reading of them for the API and for the pages."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query
from pydantic import BeforeValidator, Field

from excam.store.queries.slice import Slice
from excam.store.queries.view import View

# A form sends fields that were left empty; they mean the same as fields that are not there.
_OPTIONAL = BeforeValidator(lambda value: None if value == "" else value)

Text = Annotated[Annotated[str, Field(max_length=300)] | None, _OPTIONAL]
Day = Annotated[date | None, _OPTIONAL]
Share = Annotated[Annotated[float, Field(ge=0, le=1)] | None, _OPTIONAL]


@dataclass(frozen=True)
class Filters:
    """What a reader chose; ``link`` writes it back into an address, so that every view can be shared."""

    since: date | None = None
    until: date | None = None
    country: str | None = None
    language: str | None = None
    app: str | None = None
    model: str | None = None
    judge: str | None = None
    type: str | None = None
    severity: str | None = None
    p_error: float | None = None

    @property
    def view(self) -> View:
        part = Slice(self.since, self.until, self.country, self.language, self.app, self.model)
        return View(part, self.judge, self.type, self.severity, self.p_error)

    @property
    def chosen(self) -> dict[str, str]:
        """The filters in force, as they stand in an address."""
        return {name: str(value) for name, value in asdict(self).items() if value is not None}

    def link(self, page: str, **changes: Any) -> str:
        """The address of a page with these filters, some of them changed; None takes one away."""
        asked = {name: value for name, value in (self.chosen | changes).items() if value is not None}
        return f"{page}?{urlencode(asked)}" if asked else page


def read_filters(
    since: Annotated[Day, Query(description="first day, such as 2025-06-30")] = None,
    until: Annotated[Day, Query(description="the day after the last one")] = None,
    country: Annotated[Text, Query(description="ISO 3166 alpha-2, such as ID")] = None,
    language: Annotated[Text, Query(description="language of the instruction, such as id")] = None,
    app: Text = None,
    model: Text = None,
    judge: Annotated[Text, Query(description="judge version or its beginning; the one used last without it")] = None,
    type: Annotated[Text, Query(description="category of error that a pair must hold to count")] = None,
    severity: Annotated[Text, Query(description="minor or major")] = None,
    p_error: Annotated[Share, Query(description="count an error only from this P(error) on")] = None,
) -> Filters:
    return Filters(since, until, country, language, app, model, judge, type, severity, p_error)


Chosen = Annotated[Filters, Depends(read_filters)]
