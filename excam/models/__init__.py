"""Base models and adapters by name.

``resolve`` gives a base model (``reference`` only says which it is), ``resolve_adapter`` an adapter, ``merge`` both in
one for the CPU; ``load_tokenizer`` and ``encode_text_as_data`` turn logged text into tokens that can never be control
tokens.
"""

from excam.models.adapters import Adapter, bundled_adapter, resolve_adapter, write_card
from excam.models.base import BaseModel, reference, resolve
from excam.models.merge import merge
from excam.models.tokens import encode_text_as_data, load_tokenizer

__all__ = [
    "Adapter",
    "BaseModel",
    "bundled_adapter",
    "encode_text_as_data",
    "load_tokenizer",
    "merge",
    "reference",
    "resolve",
    "resolve_adapter",
    "write_card",
]
