"""`excam alerts check --follow` looks as long as it is let, whatever a webhook answers and however quiet it gets."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from excam.cli import cli
from excam.store import Store
from tests.excam.alerts.cases import DAY, webhook
from tests.excam.store.outcomes import START, put, verdict

Followed = Callable[..., Result]


@pytest.fixture
def followed(tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Followed:
    """Follow a rule on silence: a look on each of these days, and between two of them what happens meanwhile."""
    file = tmp_path / "rules.yaml"
    file.write_text("rules:\n- {name: quiet, kind: no_traffic, days: 2}\n")

    def follow(days: list[int], meanwhile: Iterable[object] = ()) -> Result:
        left, happening = list(days), iter(meanwhile)

        def sleep(seconds: float) -> None:
            next(happening, None)
            left.pop(0)
            if not left:
                raise KeyboardInterrupt

        monkeypatch.setattr("excam.cli.alerts.sleep", sleep)
        monkeypatch.setattr("excam.cli.alerts._today", lambda: DAY + timedelta(days=left[0]))
        asked = ["alerts", "check", "--rules", str(file), "--store", store_url, "--follow", "30"]
        return CliRunner().invoke(cli, asked)

    return follow


@pytest.mark.usefixtures("store")
def test_silence_is_noticed_as_a_day_begins_for_it_makes_no_commit(followed: Followed) -> None:
    assert followed([34, 36, 37, 37]).stdout.splitlines() == [
        "0 alerts stand",
        "0 alerts stand",
        "fired: quiet: no record in 2 days",
        "1 alerts stand",
    ]


@pytest.mark.usefixtures("store")
def test_a_webhook_that_refuses_is_told_of_and_the_next_event_is_sent(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[Any] = []
    with webhook(received, 404) as address:
        monkeypatch.setenv("EXCAM_ALERT_WEBHOOK", address)
        done = followed([37, 34])
    assert "the webhook was not told of quiet: it answered 404" in done.stderr
    assert ["cleared" in message["text"] for message in received] == [True]


def test_a_store_that_is_made_later_is_waited_for(followed: Followed, risen: Path, tmp_path: Path) -> None:
    def made() -> Iterator[object]:
        yield "nothing"
        yield shutil.copytree(risen, tmp_path / "store")

    done = followed([37, 37, 37], made())
    assert "nothing to check" in done.stderr
    assert done.stdout.startswith("fired: quiet")


def test_every_commit_is_checked(followed: Followed, store: Store) -> None:
    def commits() -> Iterator[object]:
        yield put(store, verdict(5000, logged_at=START + timedelta(days=37)))

    assert [line.partition(":")[0] for line in followed([37, 37], commits()).stdout.splitlines()] == [
        "fired",
        "1 alerts stand",
        "cleared",
        "0 alerts stand",
    ]
