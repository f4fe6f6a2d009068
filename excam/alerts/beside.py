"""Alerts beside a run: after every commit the rules are checked and what is new is told, on a thread of its own.

Nothing here can fail or hold up the run it stands beside: commits only ring a bell, and whatever goes wrong is logged.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from excam.alerts.check import check
from excam.alerts.deliver import deliver
from excam.alerts.rules import Rules
from excam.fault import UserError
from excam.store import Store

RULES_VARIABLE = "EXCAM_ALERT_RULES"
WEBHOOK_VARIABLE = "EXCAM_ALERT_WEBHOOK"
LAST_CHECK_SECONDS = 20.0
QUIET_SECONDS = 300.0  # without a commit for so long the rules are checked all the same

log = logging.getLogger("excam.alerts")


@contextmanager
def alerts_beside(store: Store, *, waits: bool = False) -> Iterator[None]:
    """Check the rules that EXCAM_ALERT_RULES names after every commit to this store; without it, do nothing.

    A run that ``waits`` for traffic is looked after every few minutes too: silence commits nothing.
    """
    rules = _rules()
    if rules is None:
        yield
        return
    watch = _Watch(store, rules, QUIET_SECONDS if waits else None)
    store.after_commit = watch.bell.set
    try:
        yield
    finally:
        store.after_commit = None
        watch.end()


def webhook_of(rules: Rules) -> str | None:
    """Where alerts go: the environment's address, which keeps a secret out of the file, else the file's."""
    return os.environ.get(WEBHOOK_VARIABLE) or rules.webhook


def _rules() -> Rules | None:
    file = os.environ.get(RULES_VARIABLE)
    if not file:
        return None
    try:
        rules = Rules.load_sound(Path(file))
    except UserError as error:
        log.warning("alerts are not checked: %s; %s", error.message, error.fix)
        return None
    for fault in rules.broken.values():
        log.warning("a rule is not checked: %s; %s", fault.message, fault.fix)
    return rules


class _Watch:
    """One thread that checks when the bell has rung, or not for ``longest``; commits meanwhile ring for one more."""

    def __init__(self, store: Store, rules: Rules, longest: float | None) -> None:
        self._store, self._rules, self._longest = store, rules, longest
        self._ending = False
        self.bell = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="excam-alerts")
        self._thread.start()

    def end(self) -> None:
        """Let the last commit be checked, for a while: a webhook that hangs must not keep a run from ending."""
        self._ending = True
        self.bell.set()
        self._thread.join(LAST_CHECK_SECONDS)

    def _run(self) -> None:
        ending = False
        while not ending:
            self.bell.wait(self._longest)
            self.bell.clear()
            ending = self._ending
            try:
                self._look()
            except Exception as error:  # noqa: BLE001 - an alert must never end the run beside it
                log.warning("alerts could not be checked: %s", error)

    def _look(self) -> None:
        try:
            for event in self._store.query(check, self._rules):
                log.warning("alert %s: %s", event.event, event.message)
        finally:  # a rule that cannot be checked keeps no other from being told
            webhook = webhook_of(self._rules)
            for told in deliver(self._store, webhook, self._rules.dashboard) if webhook else ():
                if told.problem:
                    log.warning("the webhook was not told of %s: %s", told.alert.rule, told.problem)
