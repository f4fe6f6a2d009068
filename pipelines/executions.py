"""What Ray Data keeps of every execution for ever, and how a process that starts thousands of them lets it go.

Ray Data gives every execution a name of its own. For each name the driver and an actor keep time series, Prometheus
gets them all, and a log file is written. It also keeps a remote function, and Ray a description of an actor's class,
for every execution (docs/decisions/154). Neither can be helped in public, so this is the one place that reaches inside.
"""

from __future__ import annotations

from typing import Any

from ray.actor import _ActorClassMethodMetadata
from ray.data import Dataset
from ray.data._internal.remote_fn import CACHED_FUNCTIONS

KEPT = 32  # enough for every execution that is being planned in another thread


def named(dataset: Dataset, name: str) -> Dataset:
    """The data set under a name that earlier ones had too; at most one of a name may be executed at a time."""
    found: Any = dataset
    found.set_name("excam")
    found._set_uuid(name)
    return dataset


def forget_executions() -> None:
    """Let go of what Ray keeps for the executions of before; whatever is still needed it makes again."""
    _ActorClassMethodMetadata.reset_cache()
    for key in list(CACHED_FUNCTIONS)[:-KEPT]:
        CACHED_FUNCTIONS.pop(key, None)
