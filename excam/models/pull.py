"""Bring an adapter from a folder, an archive or a URL into the cache, if it is what its card says."""

from __future__ import annotations

import errno
import re
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self

from excam.fault import UserError
from excam.models.adapter_card import CARD, CONFIG, WEIGHTS, read_card
from excam.models.adapters import Adapter, resolve_adapter
from excam.models.cache import cache_root, draft_in, only_one

FILES = (CARD, CONFIG, WEIGHTS)
ARCHIVES = (".tar", ".tar.gz", ".tgz")
MOST_BYTES = {CARD: 1 << 20, CONFIG: 1 << 20, WEIGHTS: 8 << 30}
_CHUNK = 4 << 20
_QUERY = re.compile(r"(\w+://[^\s?'\"]*)\?[^\s'\"]*")
_PAX = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
_HEADERS = (*_PAX, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)


class _Member(tarfile.TarInfo):
    """A member of a stranger's archive: names and attributes, which are read whole, may be long but not endless."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        found = super().frombuf(buf, encoding, errors)
        if found.type in _HEADERS and found.size > MOST_BYTES[CARD]:
            raise tarfile.ReadError(f"a header of {found.size:,} bytes")
        return found


def pull(source: str, *, sha256: str | None = None, cache: Path | None = None) -> Adapter:
    """Install the adapter at ``source`` under the name and version of its card; what is there already stays.

    Three files are taken by name and nothing else, whatever an archive holds besides. They become an adapter only if
    their hashes are those of the card, and the weights' hash the one asked for, where one is.
    """
    root = cache_root(cache)
    with _discreet(), draft_in((root / "tmp").resolve(), "pull") as draft:
        _take(source, draft)
        found = _resolved(draft, source, cache)
        if sha256 is not None and found.sha256 != sha256.lower():
            raise UserError(
                f"{source} holds other weights than asked for: wrong SHA-256, nothing is installed\n"
                f"    expected {sha256}\n"
                f"    found    {found.sha256}",
                "ask whoever gave you the hash",
            )
        return settle(draft, root / "adapters", cache)


@contextmanager
def _discreet() -> Iterator[None]:
    """What follows ``?`` in an address may be its signature, which opens it to whoever reads a log: none is told."""
    try:
        yield
    except UserError as fault:
        raise UserError(_QUERY.sub(r"\1?…", fault.message), fault.fix) from fault


def settle(draft: Path, home: Path, cache: Path | None = None) -> Adapter:
    """Move a checked adapter to ``home/NAME/VERSION`` and make its files read-only; a version is never overwritten.

    The draft is renamed, so that it appears there whole, and not at all where another process was faster.
    """
    card = read_card(draft)
    target = home / card.name / card.version
    with only_one(cache_root(cache), f"adapter-{card.name}-{card.version}"):
        if not target.exists():
            for file in FILES:
                (draft / file).chmod(0o444)
            target.parent.mkdir(parents=True, exist_ok=True)
            draft.chmod(0o755)
            try:
                draft.rename(target)
            except OSError as problem:
                if problem.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
    there = resolve_adapter(target, cache)
    if there.card != card:
        raise UserError(
            f"{target} holds another adapter of that name and version, or another card: "
            "a published adapter never changes",
            "publish the new one as a new version",
        )
    return there


def _resolved(draft: Path, source: str, cache: Path | None) -> Adapter:
    """The adapter in the draft, whose faults are those of the source."""
    try:
        return resolve_adapter(draft, cache)
    except UserError as fault:
        raise UserError(fault.message.replace(str(draft), source), fault.fix) from fault


def _take(source: str, draft: Path) -> None:
    path = Path(source).expanduser()
    address = source.partition("?")[0] if "://" in source else source  # a signed URL has its signature behind
    try:
        if path.is_dir():
            _each(lambda name: (path / name).open("rb"), draft, source)
        elif address.endswith(ARCHIVES):
            with _open(source) as stream:
                _unpack(stream, draft, source)
        elif "://" in source:
            _each(lambda name: _open(f"{source.rstrip('/')}/{name}"), draft, source)
        else:
            raise UserError(
                f"there is no adapter at {source}", "give a folder, a .tar or .tar.gz file, or a URL of either"
            )
    except (UserError, OSError):
        raise
    except Exception as problem:  # a connection that breaks is told by exceptions of whichever client was used
        raise UserError(f"{source} was not read to its end: {problem}", "pull it again") from problem


def _open(url: str) -> IO[bytes]:
    import fsspec

    from excam.place import open_place, refuse_password

    refuse_password(url)
    try:
        if url.startswith("s3://"):  # with the keys and by the library that logs and backups are read with
            bucket, path = open_place(url)
            opened: IO[bytes] = bucket.open_input_stream(path, compression=None)
        else:
            opened = fsspec.open(url, "rb").open()
        return opened
    except (OSError, ValueError, ImportError) as problem:
        # Over HTTP every refusal is a file not found, and only its cause says more.
        reason = problem.__cause__ if isinstance(problem, FileNotFoundError) and problem.__cause__ else problem
        raise UserError(f"{url} cannot be read: {reason}", "check the address and your access to it") from problem


def _each(open_file: Callable[[str], IO[bytes]], draft: Path, source: str) -> None:
    for name in FILES:
        try:
            with open_file(name) as stream:
                _copy(stream, draft / name, source)
        except OSError as problem:
            raise UserError(f"{source} has no readable {name}: {problem}", "give a published adapter") from problem


def _unpack(stream: IO[bytes], draft: Path, source: str) -> None:
    """The three files from an archive, wherever they lie in it; links and everything else are passed over."""
    try:
        with tarfile.open(fileobj=stream, mode="r|*", tarinfo=_Member) as archive:
            for member in archive:
                name = Path(member.name).name
                if not member.isreg() or name not in FILES:
                    continue
                if (draft / name).exists():
                    raise UserError(f"{source} holds {name} twice", "pull an archive with one adapter in it")
                content = archive.extractfile(member)
                if content is not None:
                    _copy(content, draft / name, source)
    except (tarfile.TarError, EOFError, OSError) as problem:
        raise UserError(f"{source} is no whole tar archive: {problem}", "get it again") from problem
    # tarfile takes an archive that ends within a later header for one that ends there.
    if missing := [name for name in FILES if not (draft / name).exists()]:
        raise UserError(f"{source} holds no {' and no '.join(missing)}", "get it again, or give a published adapter")


def _copy(stream: IO[bytes], path: Path, source: str) -> None:
    done, most = 0, MOST_BYTES[path.name]
    with path.open("wb") as file:
        while chunk := stream.read(_CHUNK):
            done += len(chunk)
            if done > most:
                raise UserError(f"{source}: {path.name} has more than {most >> 20:,} MiB", "pull an adapter")
            file.write(chunk)
