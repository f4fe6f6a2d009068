"""The gate itself: a small number for each bucket of features, added up to the probability that a pair is cultural."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from excam.fault import UserError
from excam.relevance.features import BATCH, BITS, BUCKETS, Pair, features

FORM = "excam-gate-1"
LARGEST_FILE = 2_000_000
FIX = "take the file from the package again, or train a new one with `excam gate train`"


@dataclass(frozen=True)
class Gate:
    """A linear model over hashed features with weights of one byte; ``version`` is the hash of the file it came from.

    The score of a pair is ``bias + scale * sum(weights) / sqrt(number of features)``, its log-odds of being cultural. A
    text without a known word has the bias for a score, and the bias is above the threshold: what is unknown passes.
    """

    weights: npt.NDArray[np.int8]
    scale: float
    bias: float
    threshold: float
    note: dict[str, Any]
    version: str

    def scores(self, pairs: Iterable[Pair]) -> npt.NDArray[np.float64]:
        """Log-odds of being cultural for every pair, in order."""
        parts = [np.zeros(0)]
        source = iter(pairs)
        while batch := list(itertools.islice(source, BATCH)):
            found = features(batch)
            sums = np.bincount(found.rows, self.weights[found.buckets], found.pairs)
            parts.append(self.bias + self.scale * sums / found.norms())
        return np.concatenate(parts)

    def probabilities(self, pairs: Iterable[Pair]) -> npt.NDArray[np.float64]:
        """P(cultural) for every pair, in order."""
        return 1 / (1 + np.exp(-self.scores(pairs)))

    def save(self, path: Path) -> str:
        """Write the gate as a line of JSON and its compressed weights, and say the file's SHA-256."""
        head = {"form": FORM, "bits": BITS, "scale": self.scale, "bias": self.bias, "threshold": self.threshold}
        line = json.dumps({**head, "note": self.note}, sort_keys=True).encode()
        content = line + b"\n" + zlib.compress(self.weights.tobytes(), level=9)
        path.write_bytes(content)
        return hashlib.sha256(content).hexdigest()


def _number(head: dict[str, Any], key: str) -> float:
    value = head[key]
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{key} is not a number")
    return float(value)


def load(path: Path, sha256: str | None = None) -> Gate:
    """Read a gate file, checked against ``sha256`` where one is known; nothing in it is ever executed."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read the gate file {path}: {error.strerror}", FIX) from error
    digest = hashlib.sha256(content).hexdigest()
    if sha256 is not None and digest != sha256:
        raise UserError(f"gate file {path}: its SHA-256 is {digest}, not {sha256}", FIX)
    line, _, packed = content.partition(b"\n")
    try:
        head = json.loads(line)
        if len(content) > LARGEST_FILE or head["form"] != FORM or head["bits"] != BITS:
            raise ValueError("another form or size")
        weights = np.frombuffer(zlib.decompressobj().decompress(packed, BUCKETS + 1), np.int8)
        if len(weights) != BUCKETS:
            raise ValueError(f"{len(weights)} weights, not {BUCKETS}")
        scale, bias, threshold = (_number(head, key) for key in ("scale", "bias", "threshold"))
        return Gate(weights, scale, bias, threshold, note=dict(head["note"]), version=digest[:16])
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise UserError(f"gate file {path}: not a gate of the form {FORM}: {error}", FIX) from error
