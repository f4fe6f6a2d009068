"""Tell the webhook: every event once, again after a while when it does not answer, and on record when it never did.

The store is the outbox. Whoever wants to tell of an event first notes that it is *sending*, behind the row that
checkers meet on, so that two of them never send the same one; then that it was *delivered* or *failed*, and why. What
failed, or was being sent by a process that died, is taken up again by any later check, for a day.
"""

from __future__ import annotations

import html
import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb

from excam.alerts.check import FENCE, FIRED, LAST_DELIVERY, Alert, moment
from excam.store import Store
from excam.store.connection import transact
from excam.store.lease import meet

SENDING, DELIVERED, FAILED = "sending", "delivered", "failed"
TIMEOUT = 10.0
PAUSES = (1.0, 2.0, 4.0)
AGAIN_AFTER = timedelta(minutes=2)
GIVE_UP_AFTER = timedelta(days=1)

_ADDRESS = re.compile(r"https?://[^/]", re.IGNORECASE)
_NO_ADDRESS = "its address does not have the form https://host/path"


@dataclass(frozen=True)
class Delivery:
    """How telling of one event went; ``problem`` is None when the webhook took it."""

    alert: Alert
    tries: int
    problem: str | None


def deliver(
    store: Store,
    webhook: str,
    dashboard: str = "",
    *,
    again_after: timedelta = AGAIN_AFTER,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Delivery]:
    """Send every event that is still untold, in order; while the webhook is down, the rest waits for the next call.

    What it refuses at once it may refuse for that event's sake alone, so that one does not keep the others waiting.
    """
    done: list[Delivery] = []
    while (alert := store.query(_claim, again_after)) is not None:
        tries, problem = _send(webhook, _body(alert, dashboard), sleep)
        store.query(_note, alert, FAILED if problem else DELIVERED, tries, problem)
        done.append(Delivery(alert, tries, problem))
        if problem and tries != 1:
            break
    return done


def _claim(connection: duckdb.DuckDBPyConnection, again_after: timedelta) -> Alert | None:
    """The oldest event that is nobody's, marked as ours."""
    if _untold(connection, again_after) is None:
        return None

    def work() -> Alert | None:
        meet(connection, FENCE)
        alert = _untold(connection, again_after)
        if alert is not None:
            _insert(connection, alert, SENDING, 0, None)
        return alert

    return transact(connection, work)


def _untold(connection: duckdb.DuckDBPyConnection, again_after: timedelta) -> Alert | None:
    now = datetime.now(UTC)
    row = connection.execute(
        f"""
        SELECT rule, subject, event, message, link, epoch_us(alerts.happened_at)
        FROM lake.alerts AS alerts LEFT JOIN ({LAST_DELIVERY}) AS told USING (alert, event, happened_at)
        WHERE alerts.happened_at > ? AND (told.state IS NULL OR (told.state <> '{DELIVERED}' AND told.noted_at <= ?))
        ORDER BY alerts.happened_at, alert LIMIT 1
        """,
        [now - GIVE_UP_AFTER, now - again_after],
    ).fetchone()
    if row is None:
        return None
    rule, subject, event, message, link, micros = row
    return Alert(rule=rule, subject=subject, event=event, message=message, link=link, happened_at=moment(micros))


def _note(connection: duckdb.DuckDBPyConnection, alert: Alert, state: str, tries: int, problem: str | None) -> None:
    transact(connection, lambda: _insert(connection, alert, state, tries, problem))


def _insert(connection: duckdb.DuckDBPyConnection, alert: Alert, state: str, tries: int, problem: str | None) -> None:
    connection.execute(
        "INSERT INTO lake.alert_deliveries VALUES (?, ?, ?, ?, ?, ?, ?)",
        [f"{alert.rule}/{alert.subject}", alert.event, alert.happened_at, state, tries, problem, datetime.now(UTC)],
    )


def _body(alert: Alert, dashboard: str) -> bytes:
    """The form that Slack and those like it take, with a link to the view that explains the alert.

    Slack reads ``<...>`` as a link or a call to everybody, and a name in the logs may hold it: it asks for these three
    characters to be escaped, and for no others.
    """
    sign = "🔴" if alert.event == FIRED else "🟢 cleared:"
    link = f" {dashboard.rstrip('/')}{alert.link}" if dashboard else ""
    return json.dumps({"text": html.escape(f"{sign} {alert.message}{link}", quote=False)}).encode()


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer that is no yes: following it would fetch a page and tell nobody."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _send(webhook: str, body: bytes, sleep: Callable[[float], None]) -> tuple[int, str | None]:
    """Post once, and again after growing pauses; how many tries it took, and what was wrong when none was taken.

    The address is a secret of the receiver, so a problem never names it.
    """
    if not _ADDRESS.match(webhook):
        return 0, _NO_ADDRESS
    problem = ""
    for tries, pause in enumerate((*PAUSES, 0.0), start=1):
        try:
            asked = urllib.request.Request(webhook, body, {"Content-Type": "application/json"})
            _opener.open(asked, timeout=TIMEOUT).close()
            return tries, None
        except urllib.error.HTTPError as error:
            problem = f"it answered {error.code}"
            if 300 <= error.code < 400:
                problem += ", and a redirect is not followed"
            if error.code < 500 and error.code != 429:
                return tries, problem
        except urllib.error.URLError as error:
            problem = f"it cannot be reached ({type(error.reason).__name__})"
        except (ValueError, http.client.InvalidURL):
            return tries, _NO_ADDRESS
        except (OSError, http.client.HTTPException) as error:
            problem = f"it did not answer ({type(error).__name__})"
        if pause:
            sleep(pause)
    return len(PAUSES) + 1, problem
