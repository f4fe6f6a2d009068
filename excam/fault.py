"""The one exception a user can cause, so that the CLI can tell a mistake with a fix from a defect with a traceback."""

from __future__ import annotations


class UserError(Exception):
    """A mistake in what the user gave us: ``message`` says what and where, ``fix`` says what to do about it."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.message}\n  fix: {self.fix}" if self.fix else self.message

    def __reduce__(self) -> tuple[type[UserError], tuple[str, str]]:
        return (type(self), (self.message, self.fix))
