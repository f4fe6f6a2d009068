"""Where a run is kept: a folder on a disk or in a bucket, opened by Arrow as Ray Train opens it for checkpoints."""

from __future__ import annotations

from contextlib import suppress

import pyarrow.fs as pafs

from excam.fault import UserError
from excam.place import open_place

NAME = "ray"
"""The folder in a job's storage that Ray Train keeps its run in."""


class Folder:
    """A folder of checkpoints and the small files beside them; ``name`` is that of a folder inside ``place``."""

    def __init__(self, place: str, name: str = "") -> None:
        try:
            self._files, path = open_place(place)
        except ValueError as problem:
            fix = "give a folder, or an address that begins with s3://, gs://, abfs:// or hdfs://"
            raise UserError(f"cannot keep a run at {place}: {problem}", fix) from problem
        self._path = f"{path.rstrip('/')}/{name}".rstrip("/")

    def read(self, name: str) -> bytes | None:
        """A file's content, or None where there is none."""
        try:
            with self._files.open_input_stream(f"{self._path}/{name}") as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """The file appears whole or not at all."""
        self._files.create_dir(self._path)
        draft = f"{self._path}/.{name}"
        with self._files.open_output_stream(draft) as stream:
            stream.write(content)
        self._files.move(draft, f"{self._path}/{name}")

    def remove(self, name: str) -> None:
        self._files.delete_file(f"{self._path}/{name}")

    def folders(self) -> list[str]:
        """The names of the folders in it."""
        there = self._files.get_file_info(pafs.FileSelector(self._path, allow_not_found=True))
        return [found.base_name for found in there if found.type == pafs.FileType.Directory]

    def remove_folder(self, name: str) -> None:
        """Remove a folder with all in it, where that is allowed."""
        with suppress(OSError):
            self._files.delete_dir(f"{self._path}/{name}")
