"""A small world of judged answers for the dashboard's tests: real outcomes through a real commit, no judge needed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from excam.store import Store
from tests.excam.store.outcomes import START, TUNED, dead_letter, error, put_run, verdict

INJECTION = "<script>document.title='hacked'</script><img src=x onerror=\"document.title='hacked'\">"
ARABIC = "يأكل الناس باليد اليسرى في الأعياد"
JAPANESE = "お箸はご飯に立てて置くのが礼儀です。"


def fill(url: str) -> None:
    """About 700 answers in 12 weeks: Indonesia gets worse, Japan is steady, Mexico has too few to say."""
    rows: list[dict[str, Any]] = []
    number = 0

    def add(country: str, day: int, wrong: bool, **changes: Any) -> None:
        nonlocal number
        number += 1
        found = [error(severity="major" if number % 2 else "minor", category="practice", start=9, end=18)]
        rows.append(
            verdict(
                number,
                country=country,
                countries=[country],
                logged_at=START + timedelta(days=day, minutes=number),
                model=f"bot-{number % 2 + 1}",
                app="travel" if number % 3 else "kitchen",
                **({"errors": found, "score": -5.0 if number % 2 else -1.0, "p_error": 0.9} if wrong else {}),
                **changes,
            )
        )

    for day in range(84):
        for turn in range(4):
            add("ID", day, wrong=(day * 4 + turn) % (4 if day >= 42 else 20) == 0)
        for turn in range(3):
            add("JP", day, wrong=(day * 3 + turn) % 25 == 0)
    for day in range(3):
        add("MX", day, wrong=True)
    rows += [
        verdict(5000 + day, status="not_applicable", score=None, logged_at=START + timedelta(days=day))
        for day in range(40)
    ]
    rows += [*hostile(), dead_letter(9000), dead_letter(9001, record='{"output": null, "note": "<b>bold</b>"}')]
    with Store.open(url) as store:
        put_run(store, *rows, judge=TUNED)


def hostile() -> list[dict[str, Any]]:
    """An answer that tries to run a script, one from right to left and one in Japanese; their spans are exact."""

    def wrong(pair_id: str, row: int, output: str, span: str, **changes: Any) -> dict[str, Any]:
        start = output.index(span)
        why = f"{span} is wrong {INJECTION}"
        found = error(span=span, start=start, end=start + len(span), explanation=why, category="language")
        return verdict(
            row,
            pair_id=pair_id,
            instruction=f"{INJECTION} How is it done?",
            output=output,
            errors=[found],
            score=-5.0,
            p_error=0.97,
            logged_at=START + timedelta(days=83),
            **changes,
        )

    return [
        wrong("pair/<script>&?", 8001, f"People {INJECTION} eat with the left hand.", "left hand", country="DE"),
        wrong("arabic", 8002, ARABIC, "باليد اليسرى", country="SA", language="ar", output_language="ar"),
        wrong("japanese", 8003, JAPANESE, "立てて置く", country="JP", language="ja", output_language="ja"),
    ]
