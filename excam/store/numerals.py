"""How a whole number stands in a binary message, which has it under no name that anybody without its schema can read.

Forgetting asks for it: a person's number in a message of Avro or Protobuf, or in a key of Kafka's own serializers. A
short number is found in nearly every such message. That is one too many rather than one too few.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

_BINARY = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # what no text has, and any frame does
_FRAME = 5  # bytes that name a schema


def holds_number(message: bytes, value: str) -> bool:
    """Whether a binary message holds the number anywhere; a text holds none, for there it is written in digits."""
    return bool(_BINARY.search(message)) and any(form in message for form in _forms(value))


def is_number(key: bytes, value: str) -> bool:
    """Whether a binary key is the number and nothing else, but for the name of a schema before it."""
    return bool(_BINARY.search(key)) and any(form in (key, key[_FRAME:]) for form in _forms(value))


def _forms(value: str) -> Iterator[bytes]:
    if not re.fullmatch(r"0|-?[1-9]\d{0,19}", value, re.ASCII) or not -(2**63) <= (number := int(value)) < 2**64:
        return
    yield _varint(2 * number if number >= 0 else -2 * number - 1)  # Avro's int and long, Protobuf's sint
    yield _varint(number % 2**64)  # Protobuf's other integers
    yield struct.pack("<d", number)
    yield struct.pack("<f", number)
    yield number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)  # Avro's decimal
    for size in (4, 8):
        if -(2 ** (8 * size - 1)) <= number < 2 ** (8 * size):
            unsigned = number % 2 ** (8 * size)
            yield unsigned.to_bytes(size, "little")  # Protobuf's fixed
            yield unsigned.to_bytes(size, "big")  # Kafka's own integers


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; a set eighth bit says that more follow."""
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])
