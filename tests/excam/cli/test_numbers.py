"""A number on the command line is one that something can be done with."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from excam.cli import cli


@pytest.mark.parametrize("number", ["nan", "inf"])
@pytest.mark.parametrize(
    "command", [["score", "log.parquet", "--sample"], ["plan", "--hours"], ["store", "compact", "--keep-days"]]
)
def test_what_is_no_number_is_refused_though_it_is_beyond_no_bound(command: list[str], number: str) -> None:
    refused = CliRunner().invoke(cli, [*command, number])
    assert refused.exit_code == 2
    assert number in refused.stderr
