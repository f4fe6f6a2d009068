"""A run is held still while another runs, and what it spends meanwhile counts for nobody."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from bench.footprint import Footprint
from bench.turns import HELD, hold_still, run_by_turns

BUSY = "while True: pass"


@contextmanager
def _running(name: str, command: str) -> Iterator[psutil.Process]:
    """A process of this name, ended whatever happens."""
    process = psutil.Popen([name, "-c", command], executable=sys.executable)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _wait_for(used: Footprint, process: psutil.Process, seconds: float) -> None:
    """Until it is seen to have spent so much, which takes long on a busy machine."""
    while used.seconds.get(process.pid, 0.0) < seconds:
        time.sleep(0.1)


def test_the_other_runs_whenever_the_command_waits_and_its_last_line_comes_back() -> None:
    waits = f"for turn in range(2): print({HELD!r}, flush=True); print('went on', input())"
    ran: list[int] = []
    said = run_by_turns([sys.executable, "-c", waits + "\nprint('done')"], lambda: ran.append(len(ran)))
    assert (said, ran) == ("done", [0, 1])


def test_a_command_that_fails_is_told_with_what_it_said() -> None:
    with pytest.raises(SystemExit, match="no such log"):
        run_by_turns([sys.executable, "-c", "raise SystemExit('no such log')"], lambda: None)


def test_processor_time_spent_while_left_out_is_no_ones() -> None:
    with Footprint() as used, _running("busy", BUSY) as busy:
        _wait_for(used, busy, 0.2)
        with used.left_out():
            _wait_for(used, busy, used.seconds[busy.pid] + 0.5)
        _wait_for(used, busy, used.seconds[busy.pid] + 0.2)
    assert 0.4 <= used.spent() <= sum(used.seconds.values()) - 0.5
    assert sum(used.seconds_by_stage().values()) == pytest.approx(used.spent())


def test_readers_stand_still_until_the_run_may_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = tmp_path / "answer"
    answer.write_text("\n")
    with Footprint() as used, _running("ray::ReadAndScreen", BUSY) as reader, answer.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        seen: list[str] = []
        monkeypatch.setattr("builtins.print", lambda *_, **__: seen.append(reader.status()))
        hold_still(used)
        assert seen == [psutil.STATUS_STOPPED]
        assert reader.status() != psutil.STATUS_STOPPED
