"""``python -m excam.cli`` is ``excam``."""

from excam.cli import main

main()
