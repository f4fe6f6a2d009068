"""Short keys by which pairs and texts are found: expressions for SQL, written once so that they never differ.

A key finds, it does not name: two columns of 64 bits (of the pair id and the content hash) stand for a pair, so that
two pairs taken for one are out of reach of chance.
"""

from __future__ import annotations

import hashlib

PAIR_KEY = "md5_number_lower(pair_id)"
TEXT_KEY = "try_cast('0x' || substr(content_hash, 1, 16) AS UBIGINT)"
TEXT_CHECK = "try_cast('0x' || substr(content_hash, 17, 16) AS UBIGINT)"


def pair_key(pair_id: str) -> int:
    """The same as :data:`PAIR_KEY`, for a lookup by parameter."""
    return int.from_bytes(hashlib.md5(pair_id.encode(), usedforsecurity=False).digest()[8:], "little")
