"""A long run held still now and then, while the short ones that it is compared with run: all meet the same machine.

A shared machine is a quarter slower in one half hour than in another, which no number of runs before and after a long
one tells apart from growth. The long run waits in a process of its own: its readers are stopped, the rest has nothing
to do, and what idle processes still spend counts for nobody. (``bench.side`` stops all of a side's processes. A turn
takes minutes here, and meanwhile the store's lease and Ray's nodes have to show that they live.)
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress

import psutil

from bench.footprint import Footprint

HELD = "held still"
STILL_CORES = 0.5  # what an idle run, and watching it, may still spend
LOOK_SECONDS, LOOKS = 2.0, 30


def run_by_turns(command: Sequence[str], meanwhile: Callable[[], None]) -> str:
    """Run a command that calls ``hold_still``, and something else whenever it does; the last line that it printed."""
    said = ""
    with (
        tempfile.TemporaryFile("w+") as complaints,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True
        ) as running,
    ):
        assert running.stdin is not None
        assert running.stdout is not None
        for line in running.stdout:
            said = line.strip() or said
            if said == HELD:
                meanwhile()
                running.stdin.write("\n")
                running.stdin.flush()
        if running.wait():
            complaints.seek(0)
            raise SystemExit(f"{' '.join(command)} failed:\n{complaints.read()}")
    return said


def hold_still(used: Footprint) -> None:
    """Stop this run's readers, wait until what they had read is done, and go on when ``run_by_turns`` says so."""
    with ExitStack() as resumed:
        stopped: set[psutil.Process] = set()
        for _ in range(LOOKS):
            for reader in used.processes("ReadAndScreen") - stopped:
                resumed.callback(_resume, reader)
                reader.suspend()
                stopped.add(reader)
            before = used.spent()
            time.sleep(LOOK_SECONDS)
            if used.spent() - before < STILL_CORES * LOOK_SECONDS:
                break
        else:
            raise SystemExit("the run could not be held still: its processes go on without readers")
        with used.left_out():
            print(HELD, flush=True)
            if not sys.stdin.readline():
                raise SystemExit("what was to run meanwhile has failed")


def _resume(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.resume()
