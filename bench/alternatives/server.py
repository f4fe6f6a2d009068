"""vLLM's own OpenAI-compatible server with the judge's weights and settings, started anew whenever it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import Any

from tests.ports import free_port

MODEL = "judge"
BASE = "smollm2-135m"


def judge_of(base: str = BASE) -> Any:
    """The judge that the ways ask: a small base, one decision a pair, no report."""
    from serve.identity import prepare
    from serve.settings import JudgeSettings

    return prepare(JudgeSettings.load(None, base=base, adapter="none", threshold=1.0))


class Server:
    """A server and the thread that starts it again; ``stop`` ends both."""

    def __init__(self, judge: Any) -> None:
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}/v1"
        self._judge = judge
        self._over = threading.Event()
        self._process = self._start()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()
        self.wait()

    def kill(self) -> None:
        """The server and its engine, which outlives its parent when that one has no time to say so."""
        self.wait()
        os.killpg(self._process.pid, signal.SIGKILL)

    def _start(self) -> subprocess.Popen[bytes]:
        from serve.engine_arguments import engine_arguments, engine_environment

        given = engine_arguments(self._judge) | {"host": "127.0.0.1", "port": self._port, "served_model_name": MODEL}
        given.pop("disable_log_stats")
        command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
        for name, value in given.items():
            flag = f"--{name.replace('_', '-')}"
            if isinstance(value, bool):
                command += [flag] if value else []
            else:
                command += [flag, str(value)]
        environment = os.environ | engine_environment(self._judge.settings)
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def _keep(self) -> None:
        while not self._over.wait(0.2):
            if self._process.poll() is not None:
                self._process = self._start()

    def wait(self) -> None:
        """Until it answers."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.url}/models", timeout=2):
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.5)
        raise SystemExit("vLLM's server did not answer within 300 s")

    def stop(self) -> None:
        self._over.set()
        self._keeper.join()
        self._process.terminate()
        self._process.wait(60)
