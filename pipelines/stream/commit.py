"""The end of a micro-batch, in the order that makes it count once whatever dies. The steps of a batch:

1. *planned*: positions come from the store, ends from the brokers;
2. *read*: the messages between them are in memory;
3. *screened*: decoded, redacted, sampled, in units;
4. *judged*: every unit's outcomes are staged as Parquet that nothing refers to yet;
5. *sent*: its dead letters are acknowledged by the dead-letter topic, if there is one;
6. *committed*: verdicts, dead letters, budget and next offsets are in the store, in one transaction under the lease;
7. *mirrored*: the consumer group has the offsets, for lag monitors;
8. *cleared*: the staged files are gone.

A crash before 6 leaves a store that knows nothing of the batch: it is read again. A crash after it finds the offsets
moved on. Only step 5 can happen twice for a batch, so a dead-letter topic may hold a letter more than once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from excam.fault import UserError
from excam.fault_point import fault_point
from excam.store import Committed, LedgerUnit, OffsetRange
from pipelines.files import open_filesystem
from pipelines.screen import Row
from pipelines.session import Session
from pipelines.stream.message import shortened
from pipelines.stream.settings import KafkaAccess
from pipelines.stream.stages import JudgedUnit
from pipelines.stream.topic import Topic

BUDGET = "budget"
FLUSH_SECONDS = 60.0
TOO_LARGE = (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE)
NOT_ACKNOWLEDGED = KafkaError(KafkaError._TIMED_OUT, "dead letters not acknowledged")


class DeadLetterTopic:
    """Sends dead letters to a topic, acknowledged by every replica before the batch is committed."""

    def __init__(self, name: str, access: KafkaAccess) -> None:
        self._name = name
        self._producer = Producer(access.client(enable_idempotence=True, message_max_bytes=20_000_000))

    def send(self, letters: Sequence[Row]) -> None:
        """Each letter as it is kept in the store, with its place and reason in the headers.

        A letter is larger than its message was, so the topic may refuse it; then it goes without what makes it large.
        Brokers weigh a request, which may hold many letters: each that was in one too large is tried by itself first.
        """
        for letter, record in self._sent([(letter, letter["record"] or "") for letter in letters]):
            if self._sent([(letter, record)]) and self._sent([(letter, shortened(record))]):
                fix = "raise its max.message.bytes"
                raise UserError(f"dead-letter topic {self._name} refuses even a letter without its message", fix)

    def _sent(self, letters: Sequence[tuple[Row, str]]) -> list[tuple[Row, str]]:
        """Those the topic refuses as too large; all others are acknowledged."""
        refused: list[tuple[Row, str]] = []
        failed: list[KafkaError] = []

        def delivered(letter: tuple[Row, str], error: KafkaError | None, message: Message) -> None:
            if error is not None and error.code() in TOO_LARGE:
                refused.append(letter)
            elif error is not None:
                failed.append(error)

        for letter in letters:
            try:
                self._produce(*letter, partial(delivered, letter))
            except KafkaException as error:
                if error.args[0].code() not in TOO_LARGE:
                    raise
                refused.append(letter)
        if self._producer.flush(FLUSH_SECONDS) or failed:
            raise KafkaException(failed[0] if failed else NOT_ACKNOWLEDGED)
        return refused

    def _produce(self, letter: Row, record: str, delivered: Callable[[KafkaError | None, Message], None]) -> None:
        """Hand a letter to the client, and wait where it holds as many as it may that no broker has taken yet."""
        place = {"source": letter["source"], "partition": letter["part"], "offset": letter["row"]}
        why = {"stage": letter["stage"], "reason": letter["reason"], "detail": letter["detail"][:1000]}
        headers: dict[str, str | bytes | None] = {f"excam.{name}": str(value) for name, value in (place | why).items()}
        given_up = time.monotonic() + FLUSH_SECONDS
        while True:
            try:
                self._producer.produce(self._name, record.encode(), headers=headers, on_delivery=delivered)
                self._producer.poll(0)
                return
            except BufferError:
                if time.monotonic() > given_up:
                    raise KafkaException(NOT_ACKNOWLEDGED) from None
                self._producer.poll(0.1)


def commit_batch(
    session: Session,
    topic: Topic,
    units: Sequence[JudgedUnit],
    ranges: Sequence[OffsetRange],
    budget: str,
    dead_letters: DeadLetterTopic | None,
) -> Committed:
    """Steps 5 to 8 of a micro-batch."""
    fault_point("judged")
    if dead_letters is not None:
        dead_letters.send([letter for unit in units for letter in unit.letters])
    fault_point("sent")
    staged = [unit.staged for unit in units if unit.staged]
    ledger = [LedgerUnit(f"{topic.source}:{BUDGET}", 0, state=BUDGET, detail=budget)] if budget else []
    version = session.card.judge_version
    committed = session.store.commit(session.lease, session.run_id, version, staged, ledger, ranges)
    fault_point("committed")
    mirror(topic, {one.part: one.next_offset for one in ranges})
    fault_point("mirrored")
    for path in staged:
        filesystem, name = open_filesystem(path)
        filesystem.delete_file(name)
    fault_point("cleared")
    return committed


def mirror(topic: Topic, positions: dict[int, int]) -> bool:
    """Tell the consumer group; when that fails lag monitors are late until the next batch, and nothing else is."""
    try:
        topic.mirror(positions)
    except KafkaException:
        return False
    return True
