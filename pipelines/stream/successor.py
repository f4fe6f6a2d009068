"""A new judge beside the one that runs: the old series goes on until the new one has caught up.

A store has one writer, so two streams cannot share it. Two loops of one stream can: one process, one lease, and for
each judge its own offsets, run and consumer group. The successor comes up in a thread, whatever time its engine takes,
and when it fails the old series goes on; the stream then ends with that failure.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace

from excam.fault import UserError
from pipelines.session import Session
from pipelines.stream.loop import StreamLoop
from pipelines.stream.settings import StreamOptions
from pipelines.stream.topic import Topic
from pipelines.stream.watch import StreamWatcher
from serve.settings import JudgeSettings


@dataclass(frozen=True)
class Successor:
    """The judge to move to, and who is told how it gets on."""

    settings: JudgeSettings
    watcher: StreamWatcher = field(default_factory=StreamWatcher)


@contextmanager
def judging_beside(
    run: Session, options: StreamOptions, successor: Successor | None, stopping: threading.Event
) -> Iterator[None]:
    """Let the successor judge the topic too while the block runs, and to its end where that is to be caught up."""
    if successor is None:
        yield
        return
    beside = _session_of(run, options, successor)
    failed: list[Exception] = []

    def follow() -> None:
        try:
            _follow(beside, options, successor, stopping)
        except Exception as error:  # noqa: BLE001 - told at the end: the old series must not end for it
            failed.append(error)
            successor.watcher.trouble(error, 0.0)

    thread = threading.Thread(target=follow, name="excam-successor", daemon=True)
    thread.start()
    try:
        yield
    except BaseException:
        stopping.set()
        raise
    finally:
        thread.join(None if not stopping.is_set() else 2 * options.grace)
        state = "failed" if failed or thread.is_alive() else "stopped" if stopping.is_set() else "done"
        run.store.end_run(run.lease, beside.run_id, state, asdict(beside.tally))
        run.store.clear_staging(beside.run_id)
    if failed:
        raise failed[0]


def _session_of(run: Session, options: StreamOptions, successor: Successor) -> Session:
    from serve.identity import card_for_driver

    card = card_for_driver(successor.settings, successor.watcher.fetching)
    if card.judge_version == run.card.judge_version:
        fix = "give the next judge another adapter, base or threshold"
        raise UserError(f"the next judge is the one that runs already, {card.judge_version}", fix)
    run.store.register_judge(card)
    told = {"topic": options.topic, "beside": run.card.judge_version}
    run_id = run.store.start_run(run.lease, "stream", card.judge_version, told)
    return Session(run.store, run.lease, card, run_id, successor.settings, successor.watcher)


def _follow(run: Session, options: StreamOptions, successor: Successor, stopping: threading.Event) -> None:
    """As an ordinary stream, but for the dead-letter topic, which has heard of these messages from the other judge."""
    own = replace(options, group=f"{options.group}-next", dead_letter_topic=None)
    plan = run.plan(own.mapping, gate=own.gate)
    with Topic(own.topic, own.access, own.group) as topic:
        loop = StreamLoop(run, plan, topic, own, successor.watcher)
        loop.stopping = stopping
        loop.run()
