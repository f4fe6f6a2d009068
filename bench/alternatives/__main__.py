"""Pairs a second, and what is lost when the engine is killed: ExCAM beside what one would otherwise use.

Every way judges the same pairs with the same weights and engine settings, in a process of its own. ``ray.data.llm``
and ExCAM call a Ray Serve deployment; the others an OpenAI-compatible server (vLLM's), which is started anew when it
dies, as a deployment would be. prometheus-eval and DeepEval are used as their documents say, each in an environment of
its own, and write an assessment where the first three make one decision: their pairs a second are those of their
method, not of their plumbing. They get a base that can keep to their formats. What to compare across all is the last
columns.

    python -m bench.alternatives --pairs 200 --few 16
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bench.alternatives.server import BASE, Server, judge_of
from bench.pairs import bench_pairs

HERE = Path(__file__).parent
KILL_AFTER = 4.0
WRITES = "qwen2.5-coder-0.5b"


@dataclass(frozen=True)
class Way:
    """How pairs can be judged: a script, what it installs besides, and whether it brings its own engine."""

    name: str
    script: str
    packages: tuple[str, ...] = ()
    serves: bool = False
    few: bool = False
    base: str = BASE


WAYS = (
    Way("ExCAM", "excam_way.py", serves=True),
    Way("ray.data.llm", "ray_data_llm.py", serves=True),
    Way("asyncio loop", "asyncio_loop.py"),
    Way("prometheus-eval", "prometheus_way.py", ("prometheus-eval==0.1.20",), few=True, base=WRITES),
    Way("DeepEval", "deepeval_way.py", ("deepeval==4.3.1",), few=True, base=WRITES),
)


def python_for(way: Way) -> str:
    """The interpreter with what a way needs; made once with uv below .cache."""
    if not way.packages:
        return sys.executable
    home = Path(".cache/alternatives") / way.name
    if not (home / "ready").exists():
        uv = ".cache/bootstrap/bin/uv"
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(home)], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", f"{home}/bin/python", *way.packages], check=True)
        (home / "ready").touch()
    return f"{home}/bin/python"


def run(way: Way, pairs: Path, server: Server | None, *, limit: float, kill: bool) -> dict[str, Any]:
    """One way once; a run that breaks off or is over its time has judged nothing that anybody can read."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "done.json"
        command = [python_for(way), "-u", str(HERE / way.script), str(pairs), str(out), server.url if server else ""]
        with (Path(folder) / "log").open("w+") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
            assert process.stdout is not None
            over = threading.Event()

            def give_up() -> None:
                over.set()
                process.kill()

            clock = threading.Timer(limit, give_up)
            clock.start()
            killed = False
            for line in process.stdout:
                if line.strip() == "judging" and kill and not killed:
                    time.sleep(KILL_AFTER)
                    killed = True
                    kill_engine(process.pid, server)
            process.wait()
            clock.cancel()
            if over.is_set():
                return {"judged": 0, "failed": 0, "seconds": None, "broke": f"no end within {limit:.0f} s"}
            if process.returncode or not out.exists():
                log.seek(0)
                last = [line for line in log.read().splitlines() if line.strip()][-1:]
                return {"judged": 0, "failed": 0, "seconds": None, "broke": last[0][:200] if last else "no message"}
        found: dict[str, Any] = json.loads(out.read_text())
        return found


def kill_engine(pid: int, server: Server | None) -> None:
    """The server with its engine, or else the first Serve replica below the process."""
    if server is not None:
        server.kill()
        return
    family = psutil.Process(pid).children(recursive=True)
    next(one for one in family if one.cmdline() and one.cmdline()[0].startswith("ray::ServeReplica")).kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200, help="for the ways that make one decision a pair")
    parser.add_argument("--few", type=int, default=16, help="for those that write an assessment of each")
    parser.add_argument("--ways", nargs="*", default=[way.name for way in WAYS], metavar="NAME")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds after which a run is given up")
    parser.add_argument("--no-kill", action="store_true", help="leave out the run in which the engine dies")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for way in (way for way in WAYS if way.name in arguments.ways):
            count = arguments.few if way.few else arguments.pairs
            pairs = Path(folder) / f"{count}.jsonl"
            pairs.write_text("".join(f"{json.dumps(pair)}\n" for pair in bench_pairs(count)))
            server = None if way.serves else Server(judge_of(way.base))
            row = {"way": way.name, "pairs": count, "calm": run(way, pairs, server, limit=arguments.limit, kill=False)}
            if not arguments.no_kill:
                row["killed"] = run(way, pairs, server, limit=arguments.limit, kill=True)
            if server:
                server.stop()
            rows.append(row)
            print(told(row), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


def told(row: dict[str, Any]) -> str:
    """A line of the table."""
    calm, killed = row["calm"], row.get("killed")
    speed = f"{calm['judged'] / calm['seconds']:7.2f} pairs/s" if calm["seconds"] else "      –        "
    line = f"{row['way']:<16} {row['pairs']:>5} pairs  {speed}  judged {calm['judged']}, failed {calm['failed']}"
    line += f" ({calm['broke']})" if "broke" in calm else ""
    if killed:
        lost = row["pairs"] - killed["judged"]
        line += f" | engine killed: judged {killed['judged']}, lost {lost}"
        line += f" ({killed['broke']})" if "broke" in killed else ""
    return line


if __name__ == "__main__":
    main()
