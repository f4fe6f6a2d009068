"""The filters of a view as they stand in the address: one reading of them for the API and for the pages."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import date
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from pydantic import BeforeValidator, Field

from excam.country import normalise
from excam.language import language_code
from excam.report import Severity
from excam.store.queries.slice import Slice
from excam.store.queries.view import View
from excam.taxonomy import Category
from serve.dashboard.place import root_of

# A form sends fields that were left empty; they mean the same as fields that are not there.
_OPTIONAL = BeforeValidator(lambda value: None if value == "" else value)

Text = Annotated[Annotated[str, Field(max_length=300)] | None, _OPTIONAL]
Day = Annotated[date | None, _OPTIONAL]
Share = Annotated[Annotated[float, Field(ge=0, le=1)] | None, _OPTIONAL]


@dataclass(frozen=True)
class Filters(Slice):
    """A slice and what counts in it, as chosen; ``link`` writes it into an address, so that it can be shared."""

    judge: str | None = None
    type: str | None = None
    severity: str | None = None
    p_error: float | None = None
    root: str = field(default="", compare=False)

    @property
    def view(self) -> View:
        part = Slice(**{chosen.name: getattr(self, chosen.name) for chosen in fields(Slice)})
        return View(part, self.judge, self.type, self.severity, self.p_error)

    @property
    def chosen(self) -> dict[str, str]:
        """The filters in force, as they stand in an address."""
        named = {chosen.name: getattr(self, chosen.name) for chosen in fields(self) if chosen.compare}
        return {name: str(value) for name, value in named.items() if value is not None}

    def link(self, page: str, **changes: Any) -> str:
        """The address of a page with these filters, some of them changed; None takes one away."""
        asked = {name: value for name, value in (self.chosen | changes).items() if value is not None}
        return f"{self.root}{page}?{urlencode(asked)}" if asked else self.root + page


def read_filters(
    request: Request,
    since: Annotated[Day, Query(description="first day, such as 2025-06-30")] = None,
    until: Annotated[Day, Query(description="the day after the last one")] = None,
    country: Annotated[Text, Query(description="code or name, such as ID")] = None,
    language: Annotated[Text, Query(description="language of the instruction, code or name, such as id")] = None,
    app: Text = None,
    model: Text = None,
    judge: Annotated[Text, Query(description="judge version or its beginning; the one used last without it")] = None,
    type: Annotated[
        Category | None, _OPTIONAL, Query(description="category of error that a pair must hold to count")
    ] = None,
    severity: Annotated[Severity | None, _OPTIONAL, Query()] = None,
    p_error: Annotated[Share, Query(description="count an error only from this P(error) on")] = None,
) -> Filters:
    """As on the command line, names will do for codes; what is neither may still be what a log calls one."""
    root = root_of(request)
    country = country and (normalise(country) or country)
    language = language and (language_code(language) or language)
    return Filters(since, until, country, language, app, model, judge, type, severity, p_error, root)


Chosen = Annotated[Filters, Depends(read_filters)]
