"""Fuzz what reads text that others wrote, guided by coverage: the report parser, the decoder of messages, and spans.

Needs atheris (``pip install atheris``), which is for this command alone and no part of the development environment.
Whatever is found ends the run with the input that did it. Stops after ``--seconds``.

    python -m bench.fuzz_parser --seconds 60
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from typing import Any

TARGETS = ("excam.report", "excam.span", "excam.shapes", "excam.mapping", "pipelines.stream.decode")


def check(data: bytes) -> None:
    """What must hold for any bytes."""
    from excam.mapping import RecordMapping
    from excam.report import ErrorReport, ParseFailure, parse_report
    from excam.span import locate
    from pipelines.stream.decode import Undecodable, decode

    text = data.decode("utf-8", "surrogateescape")
    report = parse_report(text)
    if isinstance(report, ErrorReport):
        if parse_report(report.render()) != report:
            raise AssertionError("a report that is written again is another")
        if not report.errors and json.loads(text)["errors"] not in ([], None):
            raise AssertionError("read as no errors by mistake")
        for error in report.errors or ():
            place = locate(error, text, error.explanation)
            if place.how != "not_found" and place.start >= place.end:
                raise AssertionError("a span of no length")
    elif not isinstance(report, ParseFailure) or report.text != text:
        raise AssertionError("a failure that lost its text")
    for decoded in decode(data):
        if not isinstance(decoded.record, Undecodable):
            RecordMapping().read(decoded.record)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    arguments = parser.parse_args()
    try:
        atheris: Any = importlib.import_module("atheris")
    except ModuleNotFoundError:
        raise SystemExit("this command needs atheris: pip install atheris") from None
    with atheris.instrument_imports(include=list(TARGETS)):
        for target in TARGETS:
            importlib.import_module(target)
    seeds = ('{"errors": []}', '{"errors": [{"severity": "major", "span": "x"}]}', '{"prompt": "a", "answer": "b"}\n{}')
    atheris.Setup([sys.argv[0], f"-max_total_time={arguments.seconds}", "-max_len=4096", "-print_final_stats=1"], check)
    for seed in seeds:
        check(seed.encode())
    atheris.Fuzz()


if __name__ == "__main__":
    main()
