"""Who may do what: readers look, reviewers also say whether a report is right. A token tells who asks."""

from __future__ import annotations

import getpass
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import yaml
from fastapi import HTTPException
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from excam.fault import UserError
from serve.guard import TOKEN_VARIABLE, is_loopback, is_sendable, token_in

READ_VARIABLE = "EXCAM_READ_TOKEN"


class Role(StrEnum):
    READ = "read"
    REVIEW = "review"


@dataclass(frozen=True)
class Person:
    """Somebody the dashboard knows; the name goes into reviews and into the audit log."""

    name: str
    role: Role

    @property
    def may_review(self) -> bool:
        return self.role is Role.REVIEW


def reviewing(person: Person) -> Person:
    """The person, who must be one that may write."""
    if not person.may_review:
        raise HTTPException(403, "this token may read but not review")
    return person


class Entry(BaseModel):
    """A line of a file of tokens: the token's SHA-256 rather than the token, so that the file gives nobody access."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=100)
    role: Role
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")

    @field_validator("sha256")
    @classmethod
    def _is_of_a_token(cls, sha256: str) -> str:
        if sha256 == _hash(""):
            raise ValueError("this is the hash of no token at all")
        return sha256


@dataclass(frozen=True)
class Access:
    """Everybody who has a token; with nobody in it, only this machine is let in and may do everything."""

    people: Mapping[str, Person]

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], file: Path | None = None) -> Access:
        """Tokens from EXCAM_TOKEN (reviews), EXCAM_READ_TOKEN (reads) and a YAML file of names, roles and hashes."""
        people = {entry.sha256: Person(entry.name, entry.role) for entry in _read(file)} if file else {}
        for variable, person in (
            (TOKEN_VARIABLE, Person("reviewer", Role.REVIEW)),
            (READ_VARIABLE, Person("reader", Role.READ)),
        ):
            if token := token_in(environment, variable):
                people[_hash(token)] = person
        return cls(people)

    @property
    def is_open(self) -> bool:
        return not self.people

    def check_binding(self, host: str) -> None:
        """A dashboard that others can reach must ask for a token."""
        if self.is_open and not is_loopback(host):
            raise UserError(
                f"binding to {host} lets others read logged text, and no token is set",
                f"set {TOKEN_VARIABLE} to a long random string, or bind to 127.0.0.1",
            )

    def who(self, token: str) -> Person | None:
        """Whose token this is, nobody's if it is blank; every known one is compared, so that time tells nothing."""
        if not token.strip() or not is_sendable(token.strip()):
            return None
        given = _hash(token)
        found = None
        for known, person in self.people.items():
            if hmac.compare_digest(known, given):
                found = person
        return found

    @staticmethod
    def local() -> Person:
        """Whoever sits at this machine."""
        try:
            name = getpass.getuser()
        except (KeyError, OSError):
            name = "local"
        return Person(name, Role.REVIEW)


def _hash(token: str) -> str:
    return hashlib.sha256(token.strip().encode("utf-8", "replace")).hexdigest()


def _read(file: Path) -> list[Entry]:
    fix = "write a list of entries with name, role (read or review) and sha256 (of the token)"
    try:
        entries = TypeAdapter(list[Entry]).validate_python(yaml.safe_load(file.read_text("utf-8")))
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}", "name a readable file") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{file} is not YAML in UTF-8", fix) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UserError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}", fix) from error
    known: dict[str, str] = {}
    for entry in entries:
        if (other := known.setdefault(entry.sha256, entry.name)) != entry.name:
            raise UserError(
                f"{file}: {other} and {entry.name} have the same token", "give each of them one of their own"
            )
    return entries
