"""What the operating system refused, in plain words: no defect of ours, so no traceback but, where known, a fix."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from excam.fault import UserError

_FIXES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "get the right to write there, or name another place"),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room, or name another place"),
    **dict.fromkeys((errno.ENOTDIR, errno.EISDIR, errno.EEXIST), "name another file or folder"),
}


def explained(error: OSError) -> UserError:
    """The file and the reason, as the system names them; for what lies in the cache also how to move that."""
    reason = error.strerror or str(error)
    if error.filename is None:
        return UserError(reason, _FIXES.get(error.errno or 0, "check the files and addresses you named"))
    file = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
    if _is_of_cache(Path(file)):
        return UserError(f"{file}: {reason}", "set EXCAM_CACHE to a folder that you may write to and that has room")
    return UserError(f"{file}: {reason}", _FIXES.get(error.errno or 0, "check the file, and your access to it"))


def unreadable_store(error: Exception) -> UserError | None:
    """What to say where a store's file or server did not give what it should; None for any other error."""
    duckdb = sys.modules.get("duckdb")
    if duckdb is None or not isinstance(error, duckdb.Error):
        return None
    reason = str(error).strip().splitlines()[0]
    if not isinstance(error, duckdb.IOException) and ".parquet" not in reason:
        return None
    fix = "check its server, or put the file back; from a backup a store is made anew with: excam store restore"
    return UserError(f"the store cannot be read: {reason}", fix)


def refused_by_kafka(error: Exception) -> UserError | None:
    """What to say where brokers, or the client with an option that is none, refuse; None for any other error."""
    kafka = sys.modules.get("confluent_kafka")
    if kafka is None or not isinstance(error, kafka.KafkaException) or not error.args:
        return None
    cause = error.args[0]
    reason = cause.str() if isinstance(cause, kafka.KafkaError) else str(cause)
    fix = "check --bootstrap, --kafka-config and the variables that begin with EXCAM_KAFKA_"
    return UserError(f"Kafka: {reason}", fix)


def not_text(arguments: Sequence[str]) -> UserError | None:
    """Which argument holds bytes that are no UTF-8, where one does: no store and no Parquet file takes such a text."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            return UserError(f"the argument {argument!r} is not UTF-8", "write it in UTF-8, or rename the file")
    return None


def _is_of_cache(file: Path) -> bool:
    """Whether the file is in the cache, or is the folder in which the cache was to be made."""
    from excam.models.cache import cache_root

    root = cache_root()
    return file.is_relative_to(root) or file == root.parent


def drop_output() -> None:
    """Let go of what stdout would not take, so that the end of the process does not try once more and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
