"""The store: verdicts, errors, dead letters and the ledger in DuckLake, behind one class."""

from __future__ import annotations

from excam.store.commit import Committed
from excam.store.dead_letters import CONFLICT, dead_letter_id
from excam.store.lease import Lease, LeaseLostError
from excam.store.ledger import DONE, LedgerUnit
from excam.store.store import Store
from excam.store.url import DEFAULT_URL, StoreUrl

__all__ = [
    "CONFLICT",
    "DEFAULT_URL",
    "DONE",
    "Committed",
    "Lease",
    "LeaseLostError",
    "LedgerUnit",
    "Store",
    "StoreUrl",
    "dead_letter_id",
]
