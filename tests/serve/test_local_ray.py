"""Ray on this machine comes up although its node was too slow at first, and leaves nothing of the first try behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The first node is stopped as soon as it is seen: to Ray it is one that a busy machine gives no time.
SLOW_AT_FIRST = """
import json, threading, time
import psutil, ray
from serve.local_ray import start_here

stopped = []

def nodes():
    return [child.pid for child in psutil.Process().children() if child.name() == "raylet"]

def stop_the_first():
    while not stopped:
        for pid in nodes():
            psutil.Process(pid).suspend()
            stopped.append(pid)
        time.sleep(0.01)

threading.Thread(target=stop_the_first, daemon=True).start()
start_here(num_cpus=2, log_to_driver=False, logging_level="ERROR")
print(json.dumps({"stopped": stopped, "nodes": nodes(), "answer": ray.get(ray.remote(lambda: 7).remote())}))
"""


@pytest.mark.system
def test_a_node_that_was_too_slow_is_ended_and_started_anew() -> None:
    run = [sys.executable, "-c", SLOW_AT_FIRST]
    said = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert said.returncode == 0, said.stderr[-2000:]
    found = json.loads(said.stdout.splitlines()[-1])
    (stopped,) = found["stopped"]
    assert len(found["nodes"]) == 1
    assert stopped not in found["nodes"]
    assert found["answer"] == 7
