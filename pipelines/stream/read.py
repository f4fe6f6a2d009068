"""Read planned ranges of a topic with Ray Data, and tell what truly came from what was asked for.

``ray.data.read_kafka`` reads one bounded range a partition. It is told to stop at a message that will be delivered
(:meth:`~pipelines.stream.topic.Topic.visible_ends`), an offset that retention deleted meanwhile is an error there, and
after a time it returns what it has: a partition's messages come in order, so what came is whole up to its last offset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ray
from ray.data import DataContext

from pipelines.executions import forget_executions, named
from pipelines.stream.plan import PlannedRange
from pipelines.stream.settings import KafkaAccess

READ_CPUS = 0.25
READ_TIMEOUT_MS = 60_000
BLOCK_BYTES = 16 * 2**20


def read_ranges(
    topic: str, access: KafkaAccess, ranges: Sequence[PlannedRange], positions: Mapping[int, int], reader: str
) -> list[Any]:
    """References to the messages as Arrow tables. ``positions`` names every partition, those with nothing to read too:
    Ray would read a partition it is told nothing of from end to end. ``reader`` names who reads one batch at a time.
    """
    if all(planned.start == planned.visible for planned in ranges):
        return []
    starts = dict(positions) | {planned.part: planned.start for planned in ranges}
    ends = dict(positions) | {planned.part: planned.visible for planned in ranges}
    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.target_max_block_size = BLOCK_BYTES
    found = ray.data.read_kafka(
        topic,
        bootstrap_servers=access.bootstrap.split(","),
        start_offset={topic: starts},
        end_offset={topic: ends},
        consumer_config=access.reader(),
        num_cpus=READ_CPUS,
        override_num_blocks=len(starts),  # else Ray splits what it read once more
        timeout_ms=READ_TIMEOUT_MS,
    )
    refs: list[Any] = named(found, f"{topic}-{reader}").to_arrow_refs()
    forget_executions()
    return refs
