"""Why a worker failed, in one line for the terminal."""

from __future__ import annotations

import pytest
from ray.train import WorkerGroupError

from excam.fault import UserError
from train.board import why


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (UserError("nothing fits", "use less"), "nothing fits; fix: use less"),
        (
            WorkerGroupError("[Rank 0]\nTraceback\n    raise\nexcam.fault.UserError: none fits\n  fix: use less", {}),
            "excam.fault.UserError: none fits; fix: use less",
        ),
        (RuntimeError("Traceback\nKilled"), "Killed"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_the_last_line_says_it_and_a_fix_stands_beside_what_it_mends(error: Exception, line: str) -> None:
    assert why(error) == line
