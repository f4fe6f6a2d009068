"""``excam adapters``: what is there, what is known of it, and getting one only if it is what its card says."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from filelock import FileLock
from safetensors.numpy import save_file

from excam.cli.adapters import adapters
from excam.fault import UserError
from excam.models.adapters import Adapter, resolve_adapter, write_card
from excam.models.base import BaseModel
from excam.models.pull import pull

BASE = BaseModel("tiny", Path("/models/tiny"), "a" * 64, "CC0-1.0")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXCAM_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def made(tmp_path: Path) -> Adapter:
    folder = tmp_path / "made"
    folder.mkdir()
    save_file({"x.lora_A.weight": np.ones((4, 2), np.float32)}, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 4, "lora_alpha": 8}))
    return write_card(
        folder,
        name="judge",
        version="1.0",
        base=BASE,
        dataset="excam40k",
        metrics={"scaled_accuracy": 0.51},
        note="for tests",
    )


@pytest.fixture
def archive(made: Adapter, tmp_path: Path) -> Path:
    path = tmp_path / "judge.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        file.add(made.path, "judge/1.0")
    return path


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def copyfile(self, source: Any, outputfile: Any) -> None:
            body = source.read()
            outputfile.write(body[: len(body) // 2] if self.path.endswith("?cut") else body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(adapters, arguments)


def fault(result: Result) -> UserError:
    assert isinstance(result.exception, UserError), result.output
    return result.exception


def test_a_pulled_adapter_is_listed_found_by_name_and_read_only(made: Adapter) -> None:
    assert "judge@1.0 for tiny" in run("pull", str(made.path)).output
    (row,) = [row for row in json.loads(run("list", "--json").output) if row["name"] == "judge"]
    assert (row["version"], row["base"], row["rank"], row["dev"], row["where"]) == ("1.0", "tiny", 4, 0.51, "installed")
    found = resolve_adapter("judge")
    assert found.card == made.card
    assert all(path.stat().st_mode & 0o222 == 0 for path in found.path.iterdir())


def test_the_table_shows_the_dev_figure_and_info_shows_the_card(made: Adapter) -> None:
    run("pull", str(made.path))
    assert "0.510" in run("list").output
    shown = run("info", "judge").output
    for fact in ("judge@1.0", "excam40k", made.sha256, "0.51", "for tests", "raw probability"):
        assert fact in shown
    assert json.loads(run("info", "judge", "--json").output)["sha256"] == made.sha256


def test_an_archive_and_a_url_of_either_kind_give_the_same_adapter(made: Adapter, archive: Path, web: str) -> None:
    for source in (str(archive), f"{web}/{archive.name}?signature=x", f"{web}/{made.path.name}", f"file://{archive}"):
        assert pull(source).card == made.card


def test_a_bucket_is_read_with_the_keys_and_the_endpoint_of_the_environment(
    made: Adapter, web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("ENDPOINT_URL", web), ("ACCESS_KEY_ID", "key"), ("SECRET_ACCESS_KEY", "word")):
        monkeypatch.setenv(f"AWS_{name}", value)
    assert pull(f"s3://{made.path.name}").card == made.card


@pytest.mark.parametrize(("path", "told"), [("judge.tar.gz?cut", "was not read to its end"), ("nowhere", "404")])
def test_an_address_that_refuses_or_breaks_off_is_named_with_the_reason_and_without_its_signature(
    archive: Path, web: str, path: str, told: str
) -> None:
    message = fault(run("pull", f"{web}/{path}")).message
    assert message.startswith(f"{web}/{path.replace('?cut', '?…')}")
    assert "?cut" not in message
    assert told in message


def test_what_differs_from_its_card_is_refused_and_leaves_nothing(made: Adapter, tmp_path: Path) -> None:
    weights = made.path / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x00")
    assert fault(run("pull", str(made.path))).message.startswith(f"{weights} is not what its card describes")
    assert not list((tmp_path / "cache" / "adapters").rglob("*"))
    assert not list((tmp_path / "cache" / "tmp").iterdir())


@pytest.mark.parametrize("again", ["made", "judge.tar.gz"], ids=["same source", "another source"])
@pytest.mark.usefixtures("archive")
def test_a_pull_that_was_killed_is_done_again_and_its_draft_goes(made: Adapter, tmp_path: Path, again: str) -> None:
    code = (
        "import os, sys; from excam.models import pull; "
        "pull.settle = lambda *given: os._exit(9); pull.pull(sys.argv[1])"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(made.path)], check=False, timeout=120)
    assert killed.returncode == 9
    assert list((tmp_path / "cache" / "tmp").iterdir()), "it died with its draft made"
    with FileLock(tmp_path / "cache" / "tmp" / ".pull-other.lock"):
        (tmp_path / "cache" / "tmp" / ".pull-other").mkdir()
        assert run("pull", str(tmp_path / again)).exit_code == 0
    left = {path.name for path in (tmp_path / "cache" / "tmp").iterdir()}
    assert left == {".pull-other", ".pull-other.lock"}, "that one is still at work"


def test_a_card_that_would_fill_the_memory_is_not_read(made: Adapter) -> None:
    (made.path / "adapter.yaml").write_bytes(b"#" * (1 << 20) + b"#")
    assert "adapter.yaml has more than 1 MiB" in fault(run("pull", str(made.path))).message


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_an_archive_whose_headers_would_fill_the_memory_is_not_read(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 8 << 30
    (tmp_path / "bomb.tar").write_bytes(header.tobuf(tarfile.GNU_FORMAT))
    assert "a header of 8,589,934,592 bytes" in fault(run("pull", str(tmp_path / "bomb.tar"))).message


def test_nothing_on_a_card_steers_the_terminal(made: Adapter) -> None:
    card = made.path / "adapter.yaml"
    card.write_text(card.read_text().replace("name: tiny", r'name: "\e]0;title\a"'))
    assert "judge@1.0 for \\x1b]0;title\\x07 is in" in run("pull", str(made.path)).output


def test_another_hash_than_the_one_asked_for_is_refused(made: Adapter) -> None:
    assert "other weights than asked for" in fault(run("pull", str(made.path), "--sha256", "0" * 64)).message
    assert run("pull", str(made.path), "--sha256", made.sha256).exit_code == 0


def test_a_version_is_never_overwritten(made: Adapter, tmp_path: Path) -> None:
    run("pull", str(made.path))
    assert run("pull", str(made.path)).exit_code == 0, "the same again changes nothing"
    other = tmp_path / "other"
    other.mkdir()
    save_file({"x.lora_A.weight": np.zeros((4, 2), np.float32)}, other / "adapter_model.safetensors")
    (other / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 4, "lora_alpha": 8}))
    write_card(other, name="judge", version="1.0", base=BASE, dataset="excam40k")
    assert "never changes" in fault(run("pull", str(other))).message
    assert resolve_adapter("judge").sha256 == made.sha256


def test_the_same_weights_with_another_threshold_are_another_adapter(made: Adapter) -> None:
    run("pull", str(made.path))
    card = made.path / "adapter.yaml"
    fitted = {"method": "temperature", "temperature": 1, "threshold": 0.9, "pairs": 1, "ece_before": 0, "ece_after": 0}
    card.write_text(card.read_text() + json.dumps({"calibration": fitted})[1:-1])
    assert "never changes" in fault(run("pull", str(made.path))).message
    assert resolve_adapter("judge").card.calibration is None


def test_only_three_files_leave_an_archive_whatever_paths_and_links_it_holds(made: Adapter, tmp_path: Path) -> None:
    path = tmp_path / "hostile.tar"
    (tmp_path / "evil.bin").write_bytes(b"code")
    with tarfile.open(path, "w") as file:
        file.add(tmp_path / "evil.bin", "../../evil.bin")
        file.add(tmp_path / "evil.bin", "pickle.bin")
        link = tarfile.TarInfo("link/adapter.yaml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(link)
        for name in ("adapter.yaml", "adapter_config.json", "adapter_model.safetensors"):
            file.add(made.path / name, f"/absolute/../{name}")
    assert sorted(file.name for file in pull(str(path)).path.iterdir()) == [
        "adapter.yaml",
        "adapter_config.json",
        "adapter_model.safetensors",
    ]
    assert not (tmp_path / "cache" / "evil.bin").exists()


@pytest.mark.parametrize("source", ["nowhere", "nowhere.tar", "file:///nowhere", "nosuch://bucket/adapter"])
def test_a_source_that_is_not_there_is_a_fault_that_names_it(source: str) -> None:
    assert "nowhere" in fault(run("pull", source)).message or "nosuch" in fault(run("pull", source)).message


def test_a_broken_archive_is_a_fault(tmp_path: Path, archive: Path) -> None:
    broken = tmp_path / "broken.tar.gz"
    broken.write_bytes(archive.read_bytes()[:200])
    assert "broken.tar.gz" in fault(run("pull", str(broken))).message


def test_an_archive_that_ends_where_the_next_file_would_begin_is_a_fault_that_names_it(
    made: Adapter, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.tar"
    with tarfile.open(cut, "w") as file:
        file.add(made.path / "adapter.yaml", "adapter.yaml")
        whole = file.offset
        file.add(made.path / "adapter_config.json", "adapter_config.json")
    cut.write_bytes(cut.read_bytes()[: whole + 100])
    assert "cut.tar holds no adapter_config.json and no adapter_model" in fault(run("pull", str(cut))).message


@pytest.mark.parametrize(("name", "version"), [("Judge", "1.0"), ("../judge", "1.0"), ("judge", "latest")])
def test_a_name_no_card_can_bear_is_refused_before_any_work(made: Adapter, name: str, version: str) -> None:
    answer = run("publish", str(made.path), "--name", name, "--version", version, "--verify", "0")
    assert "for an adapter" in fault(answer).message


def test_publishing_without_pairs_to_verify_must_be_asked_for(made: Adapter) -> None:
    assert "verifying needs pairs" in fault(run("publish", str(made.path), "--name", "j", "--version", "1")).message
