"""Find Parquet logs wherever they lie: a file, a folder or a glob, on a disk or any Arrow or fsspec file system."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.fs as pafs

from excam.fault import UserError
from excam.place import open_place, refuse_password, require_place

WILDCARD = re.compile(r"[*?\[]")
SUFFIXES = (".parquet", ".pq")
TEXT_LOGS = re.compile(r"(.+)\.(csv|json|jsonl|ndjson)(?:\.gz)?", re.IGNORECASE | re.DOTALL)
READ_CSV = "duckdb.read_csv(sys.argv[1], header=True, all_varchar=True)"
READ_JSON = "duckdb.read_json(sys.argv[1], sample_size=-1)"
ARROW_SCHEMES = ("file", "s3", "gs", "gcs", "hdfs", "abfs")
UNREADABLE = (OSError, pa.ArrowException, ValueError, OverflowError)
"""How reading a file fails that is no sound Parquet; a column's name that is no UTF-8 is a ValueError."""


class Listed(pafs.FSSpecHandler):  # type: ignore[misc]
    """A file system of fsspec whose folders are listed at once.

    Arrow would first ask whether the folder is there, and fsspec takes it for a no when nobody answers: a bucket that
    is out of reach, or a folder that may not be read, would look as if it held nothing.
    """

    def get_file_info_selector(self, selector: pafs.FileSelector) -> list[pafs.FileInfo]:
        if selector.recursive:  # as nothing here asks for
            return list(super().get_file_info_selector(selector))
        here = selector.base_dir.strip("/")
        try:
            found = self.fs.ls(selector.base_dir, detail=True)
        except FileNotFoundError:
            if not selector.allow_not_found:
                raise
            return []
        except OSError:
            raise
        except Exception as problem:  # each client has exceptions of its own for a server that does not answer
            raise OSError(f"{selector.base_dir} cannot be listed: {problem}") from problem
        return [self._create_file_info(one["name"], one) for one in found if one["name"].strip("/") != here]


def open_filesystem(uri: str) -> tuple[pafs.FileSystem, str]:
    """The file system of a path or URI and the path inside it; Arrow's own where it has one, else fsspec's."""
    refuse_password(uri)
    scheme = uri.split("://", 1)[0] if "://" in uri else "file"
    try:
        if scheme in ARROW_SCHEMES:
            return open_place(uri)
        import fsspec

        filesystem, path = fsspec.core.url_to_fs(uri)
        return pafs.PyFileSystem(Listed(filesystem)), path
    except (ImportError, ValueError, OSError, pa.ArrowException) as error:
        fix = "give a local path, or install the fsspec package for this scheme (s3fs, gcsfs, adlfs …)"
        raise UserError(f"cannot open {uri}: {error}", fix) from error


def find_logs(places: Iterable[str]) -> list[str]:
    """Every Parquet file the user named, each once, in a stable order; local paths become absolute.

    A place that holds CSV or JSON alone is refused with the command that makes Parquet of it.
    """
    found: dict[str, None] = {}
    for place in places:
        require_place(place, "log")
        try:
            matches = _matches(place if "://" in place else os.path.abspath(os.path.expanduser(place)))
        except (UnicodeDecodeError, UnicodeEncodeError) as error:
            name = os.fsencode(error.object).decode(errors="backslashreplace")
            raise UserError(f"the name of {name} is not UTF-8", "rename it, or move it away from the logs") from error
        except (OSError, ValueError) as error:
            fix = "check the address and your access to it, and run this again"
            raise UserError(f"cannot look for logs at {place}: {plain(error)}", fix) from error
        if not matches:
            fix = "name a .parquet file, a folder of some but no backup, or a glob; CSV and JSON: see docs/your-logs.md"
            raise UserError(f"no Parquet file at {place}", fix)
        texts = [text for text in map(TEXT_LOGS.fullmatch, matches) if text]
        if len(texts) == len(matches):
            raise UserError(f"{place} is no Parquet", f"make it Parquet: {_conversion(texts[0])}")
        found.update(dict.fromkeys(matches))
    return list(found)


def outside(uris: Iterable[str], folder: str) -> list[str]:
    """Those of the files that do not lie in a folder, whatever links lead there: a store may stand among the logs."""
    below = _known_as(folder).rstrip("/") + "/"
    return [uri for uri in uris if not _known_as(uri).startswith(below)]


def _known_as(uri: str) -> str:
    path = uri.removeprefix("file://")
    return path if "://" in path else os.path.realpath(path)


def _conversion(text: re.Match[str]) -> str:
    """The command that turns a CSV or JSON log into Parquet: DuckDB is here anyway, and reads newlines in quotes."""
    read = READ_CSV if text[2].lower() == "csv" else READ_JSON
    code = f"import duckdb, sys; {read}.write_parquet(sys.argv[2])"
    return shlex.join(["python", "-c", code, text[0], f"{text[1]}.parquet"])


def _matches(place: str) -> list[str]:
    filesystem, path = open_filesystem(place)
    prefix = place.removesuffix(path) if place.endswith(path) else f"{place.split('://', 1)[0]}://"
    here = filesystem.get_file_info(path)  # a name may hold brackets and be meant as it is
    if here.is_file:
        names = [path]
    elif here.type == pafs.FileType.NotFound and (wildcard := WILDCARD.search(path)):
        from fsspec.utils import glob_translate

        pattern = re.compile(glob_translate(path))
        root = path[: wildcard.start()].rpartition("/")[0]
        depth = None if "**" in path else path[len(root) + 1 :].count("/") + 1
        names = [name for name in _below(filesystem, root or "/" * path.startswith("/"), depth) if pattern.match(name)]
    else:
        inside = len(path.rstrip("/"))
        names = [name for name in _below(filesystem, path) if name.endswith(SUFFIXES) and not _hidden(name[inside:])]
    return [f"{prefix}{name}" for name in sorted(names)]


def _below(filesystem: pafs.FileSystem, folder: str, depth: int | None = None) -> Iterator[str]:
    """The files in a folder and in those below it, but for backups of a store.

    A folder that cannot be listed is an error, for it may hold logs.
    """
    from excam.store.backup import is_backup

    listed = filesystem.get_file_info(pafs.FileSelector(folder, allow_not_found=True))
    if is_backup(folder, [found.path.rpartition("/")[2] for found in listed]):
        return
    for found in listed:
        if found.is_file:
            yield found.path
        elif found.type == pafs.FileType.Directory and depth != 1 and found.base_name != "lost+found":
            yield from _below(filesystem, found.path, depth and depth - 1)


def _hidden(name: str) -> bool:
    """Files that writers leave beside the data, such as _temporary/… and .part.crc."""
    return any(part.startswith((".", "_")) for part in name.split("/") if part)


def plain(error: BaseException) -> str:
    """An exception as one line a person can read: its kind and the first line of what it says."""
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'no message'}"
