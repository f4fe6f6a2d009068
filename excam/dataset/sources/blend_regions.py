"""The sixteen regions of BLEnD: how its files name them, their country and language, and how a question says them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Region:
    """A place BLEnD asked people about; some are parts of a country, two of them of the same one."""

    name: str
    code: str
    country: str
    language: str
    spoken: str


REGIONS = (
    Region("Algeria", "DZ", "DZ", "ar", "Algeria"),
    Region("Assam", "AS", "IN", "as", "Assam"),
    Region("Azerbaijan", "AZ", "AZ", "az", "Azerbaijan"),
    Region("China", "CN", "CN", "zh", "China"),
    Region("Ethiopia", "ET", "ET", "am", "Ethiopia"),
    Region("Greece", "GR", "GR", "el", "Greece"),
    Region("Indonesia", "ID", "ID", "id", "Indonesia"),
    Region("Iran", "IR", "IR", "fa", "Iran"),
    Region("Mexico", "MX", "MX", "es", "Mexico"),
    Region("North_Korea", "KP", "KP", "ko", "North Korea"),
    Region("Northern_Nigeria", "NG", "NG", "ha", "Northern Nigeria"),
    Region("South_Korea", "KR", "KR", "ko", "South Korea"),
    Region("Spain", "ES", "ES", "es", "Spain"),
    Region("UK", "GB", "GB", "en", "the UK"),
    Region("US", "US", "US", "en", "the US"),
    Region("West_Java", "JB", "ID", "su", "West Java"),
)
_BY_NAME = {key.casefold(): region for region in REGIONS for key in (region.name, region.code, region.spoken)}


def region_of(name: str) -> Region | None:
    """The region a record or a file name means: its name, its name with spaces, or its two-letter code."""
    return _BY_NAME.get(name.casefold()) or _BY_NAME.get(name.replace(" ", "_").casefold())
