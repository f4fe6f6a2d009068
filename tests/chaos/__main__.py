"""``make chaos``: the long version, with its own brokers, cluster and judge; prints a table and exits 1 on a loss."""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path

import ray
import setuptools  # noqa: F401 - must come before anything imports distutils, or torch's extensions refuse to load

from tests.chaos.run import run_chaos
from tests.chaos.victims import VICTIMS
from tests.kafka import running_kafka
from tests.nodes import Node, fill_this_node


def main() -> None:
    from serve.settings import JudgeSettings
    from serve.start import start_judge

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rate", type=float, default=2.0, help="messages a second")
    parser.add_argument("--brokers", type=int, default=1)
    parser.add_argument("--victims", default=",".join(VICTIMS), help="which of them, by comma")
    arguments = parser.parse_args()
    settings = JudgeSettings.load(None, base="smollm2-135m", adapter="none", threshold=1.0, max_prompt_tokens=512)
    start_judge(settings)
    with ExitStack() as stack:
        stack.callback(ray.kill, fill_this_node())  # until then the stream's workers live on the second node
        kafka = stack.enter_context(running_kafka(arguments.brokers, slow_links=True))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        node = Node(Path(folder) / "node.log")
        stack.callback(node.kill)
        report = run_chaos(
            kafka,
            settings,
            Path(folder),
            node=node,
            seed=arguments.seed,
            victims=arguments.victims.split(","),
            seconds=60 * arguments.minutes,
            kills=arguments.kills,
            rate=arguments.rate,
            say=lambda line: print(line, flush=True),
        )
    for name, count in sorted(report.hurt.items()):
        print(f"{name:<8} {count:4} times")
    print(f"{report.pairs} pairs and {report.poison} poison messages, {report.drivers} drivers, {report.seconds:.0f} s")
    print("every offset has one outcome, none lost, none doubled, trends as undisturbed")


if __name__ == "__main__":
    main()
