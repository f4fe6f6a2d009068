"""Find Parquet logs wherever they lie: a file, a folder or a glob, on a disk or any Arrow or fsspec file system."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from excam.fault import UserError

WILDCARD = re.compile(r"[*?\[]")
SUFFIXES = (".parquet", ".pq")
TEXT_LOGS = re.compile(r"(.+)\.(csv|json|jsonl|ndjson)(?:\.gz)?", re.IGNORECASE | re.DOTALL)
READ_CSV = "duckdb.read_csv(sys.argv[1], header=True, all_varchar=True)"
READ_JSON = "duckdb.read_json(sys.argv[1], sample_size=-1)"
MOST_ROWS = 1 << 31  # of one row group: as many as there are numbers for its units
ARROW_SCHEMES = ("file", "s3", "gs", "gcs", "hdfs", "abfs")
UNREADABLE = (OSError, pa.ArrowException, ValueError, OverflowError)
"""How reading a file fails that is no sound Parquet; a column's name that is no UTF-8 is a ValueError."""


@dataclass(frozen=True)
class LogFile:
    """One log file as it stood when the run was planned; ``fingerprint`` changes when its content does."""

    uri: str
    fingerprint: str
    rows: tuple[int, ...]
    bytes_per_row: float


@dataclass(frozen=True)
class BrokenFile:
    """A file that is no readable Parquet: it becomes a dead letter, and the run goes on."""

    uri: str
    fingerprint: str
    reason: str


def open_filesystem(uri: str) -> tuple[pafs.FileSystem, str]:
    """The file system of a path or URI and the path inside it; Arrow's own where it has one, else fsspec's."""
    scheme = uri.split("://", 1)[0] if "://" in uri else "file"
    try:
        if "://" not in uri:
            return pafs.LocalFileSystem(), uri
        if scheme in ARROW_SCHEMES:
            found: tuple[pafs.FileSystem, str] = pafs.FileSystem.from_uri(uri)
            return found
        import fsspec

        filesystem, path = fsspec.core.url_to_fs(uri)
        return pafs.PyFileSystem(pafs.FSSpecHandler(filesystem)), path
    except (ImportError, ValueError, OSError, pa.ArrowException) as error:
        fix = "give a local path, or install the fsspec package for this scheme (s3fs, gcsfs, adlfs …)"
        raise UserError(f"cannot open {uri}: {error}", fix) from error


def find_logs(places: Iterable[str]) -> list[str]:
    """Every Parquet file the user named, each once, in a stable order; local paths become absolute.

    A place that holds CSV or JSON alone is refused with the command that makes Parquet of it.
    """
    found: dict[str, None] = {}
    for place in places:
        matches = _matches(place if "://" in place else os.path.abspath(place))
        if not matches:
            fix = "name a .parquet file, a folder that holds some, or a glob; CSV and JSON: see docs/your-logs.md"
            raise UserError(f"no Parquet file at {place}", fix)
        texts = [text for text in map(TEXT_LOGS.fullmatch, matches) if text]
        if len(texts) == len(matches):
            raise UserError(f"{place} is no Parquet", f"make it Parquet: {_conversion(texts[0])}")
        found.update(dict.fromkeys(matches))
    return list(found)


def _conversion(text: re.Match[str]) -> str:
    """The command that turns a CSV or JSON log into Parquet: DuckDB is here anyway, and reads newlines in quotes."""
    read = READ_CSV if text[2].lower() == "csv" else READ_JSON
    code = f"import duckdb, sys; {read}.write_parquet(sys.argv[2])"
    return shlex.join(["python", "-c", code, text[0], f"{text[1]}.parquet"])


def _matches(place: str) -> list[str]:
    from fsspec.implementations.arrow import ArrowFSWrapper

    filesystem, path = open_filesystem(place)
    prefix = place.removesuffix(path) if place.endswith(path) else f"{place.split('://', 1)[0]}://"
    listing = ArrowFSWrapper(filesystem)
    if WILDCARD.search(path):
        names = [name for name in listing.glob(path) if listing.isfile(name)]
    elif listing.isfile(path):
        names = [path]
    elif listing.isdir(path):
        inside = len(path.rstrip("/"))
        names = [name for name in listing.find(path) if name.endswith(SUFFIXES) and not _hidden(name[inside:])]
    else:
        names = []
    return [f"{prefix}{name}" for name in sorted(names)]


def _hidden(name: str) -> bool:
    """Files that writers leave beside the data, such as _temporary/… and .part.crc."""
    return any(part.startswith((".", "_")) for part in name.split("/") if part)


def inspect(uri: str) -> LogFile | BrokenFile:
    """Read a file's footer: how many rows in which groups, and a fingerprint of size, time and footer."""
    filesystem, path = open_filesystem(uri)
    info = filesystem.get_file_info(path)
    stamp = f"{info.size}:{info.mtime_ns}"
    try:
        with filesystem.open_input_file(path) as stream:
            file = pq.ParquetFile(stream)
            metadata, _ = file.metadata, file.schema_arrow.names
            stream.seek(max(0, info.size - metadata.serialized_size - 8))
            footer = stream.read()
        groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
        if any(not 0 <= group.num_rows <= MOST_ROWS for group in groups):
            raise OSError(f"a row group says it has {max(group.num_rows for group in groups):,} rows")
    except UNREADABLE as error:
        return BrokenFile(uri, hashlib.sha256(stamp.encode()).hexdigest()[:16], plain(error))
    fingerprint = hashlib.sha256(stamp.encode() + footer).hexdigest()[:16]
    size = sum(group.total_byte_size for group in groups)
    return LogFile(uri, fingerprint, tuple(group.num_rows for group in groups), size / max(1, metadata.num_rows))


def plain(error: BaseException) -> str:
    """An exception as one line a person can read: its kind and the first line of what it says."""
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}"
