"""The relevance gate: is a pair about culture at all? Asked of every pair before any GPU is spent on it.

Production traffic is mostly not about culture. The gate stops what clearly is not, and lets everything else pass: a
pair that passes wrongly costs one judgement, a pair that is stopped wrongly is an error nobody will ever see.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from excam.relevance.features import Pair
from excam.relevance.model import Gate, load

__all__ = ["Gate", "bundled", "gate", "gate_version", "gates", "is_cultural", "load"]

MODEL = Path(__file__).with_name("gate.model")
MODEL_SHA256 = Path(__file__).with_name("gate.sha256")


@cache
def bundled() -> Gate:
    """The gate that comes with the package, checked against the hash the package states."""
    return load(MODEL, MODEL_SHA256.read_text(encoding="ascii").strip())


def gates(pairs: Iterable[Pair]) -> npt.NDArray[np.float64]:
    """P(cultural) of every (instruction, output), in order: the fast way, for batches."""
    return bundled().probabilities(pairs)


def gate(instruction: str, output: str) -> float:
    """P(cultural) of one pair."""
    return float(gates([(instruction, output)])[0])


def is_cultural(instruction: str, output: str) -> bool:
    """Whether one pair passes the gate: its probability reaches the threshold stored with the model."""
    return gate(instruction, output) >= bundled().threshold


def gate_version() -> str:
    """Identity of the bundled gate, to be stored with what it decided."""
    return bundled().version
