"""A run is kept where Ray Train keeps its checkpoints, with nothing more installed than Ray needs."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from excam.fault import UserError
from train.storage import Folder


def test_a_file_is_there_whole_and_a_folder_goes_with_all_in_it(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path), "ray")
    assert folder.read("list") is None
    assert folder.folders() == []
    for content in (b"first", b"second"):
        folder.write("list", content)
        assert folder.read("list") == content
    (tmp_path / "ray" / "one" / "deep").mkdir(parents=True)
    assert folder.folders() == ["one"]
    folder.remove_folder("one")
    folder.remove("list")
    assert not list((tmp_path / "ray").iterdir())


def test_a_bucket_is_read_with_the_keys_and_the_endpoint_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bucket" / "runs" / "ray").mkdir(parents=True)
    (tmp_path / "bucket" / "runs" / "ray" / "list").write_bytes(b"kept")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path)))
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    keys = {"ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}", "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b"}
    for name, value in keys.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    folder = Folder("s3://bucket/runs", "ray")
    assert (folder.read("list"), folder.read("another")) == (b"kept", None)
    server.shutdown()


def test_an_address_that_nobody_can_open_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot keep a run at ftp://host/runs"):
        Folder("ftp://host/runs")
