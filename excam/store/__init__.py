"""The store: verdicts, errors, dead letters and the ledger in DuckLake, behind one class.

Names are imported when they are first used, so that asking for a store's URL does not load a database.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from excam.store.commit import Committed
    from excam.store.connection import NoStoreError
    from excam.store.dead_letters import CONFLICT
    from excam.store.forget import Forgotten, Selection
    from excam.store.lease import Lease, LeaseLostError
    from excam.store.ledger import DONE, LedgerUnit
    from excam.store.offsets import OffsetMovedError, OffsetRange
    from excam.store.store import Store
    from excam.store.url import DEFAULT_URL, StoreUrl

_HOMES = {
    "CONFLICT": "dead_letters",
    "DEFAULT_URL": "url",
    "DONE": "ledger",
    "Committed": "commit",
    "Forgotten": "forget",
    "Lease": "lease",
    "LeaseLostError": "lease",
    "LedgerUnit": "ledger",
    "NoStoreError": "connection",
    "OffsetMovedError": "offsets",
    "OffsetRange": "offsets",
    "Selection": "forget",
    "Store": "store",
    "StoreUrl": "url",
}

__all__ = [
    "CONFLICT",
    "DEFAULT_URL",
    "DONE",
    "Committed",
    "Forgotten",
    "Lease",
    "LeaseLostError",
    "LedgerUnit",
    "NoStoreError",
    "OffsetMovedError",
    "OffsetRange",
    "Selection",
    "Store",
    "StoreUrl",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
