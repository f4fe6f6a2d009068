"""Programs, queries, commands and spreadsheets."""

from __future__ import annotations

import random

from excam.dataset.assistant.family import Chore, Family, fact, off, pick, table
from excam.dataset.item import Task

TABLES = {
    "orders": ("id", "total", "created_at", "status"),
    "customers": ("id", "email", "country", "signup_date"),
    "sensors": ("id", "temperature", "battery", "recorded_at"),
    "invoices": ("number", "amount", "due_date", "paid"),
    "tickets": ("id", "priority", "opened_at", "assignee"),
    "products": ("sku", "price", "stock", "weight"),
}
_FORMULAS = (("add up", "SUM", "COUNT"), ("average", "AVERAGE", "SUM"), ("find the largest of", "MAX", "MIN"))


def _told(kind: str, asks: tuple[str, ...], answers: tuple[str, ...] = ("{}",)) -> Family:
    """A family whose instances are rows of facts, each with a right and a wrong answer."""

    def make(rng: random.Random) -> Chore:
        goal, right, wrong = fact(rng, kind)
        form = pick(rng, answers)
        return Chore(pick(rng, asks).format(goal), form.format(right), (form.format(wrong),))

    return Family(f"code/{kind}", make)


def _python_output(rng: random.Random) -> Chore:
    values = [rng.randint(1, 60) for _ in range(rng.randint(3, 6))]
    name, result = rng.choice((("len", len(values)), ("sum", sum(values)), ("max", max(values)), ("min", min(values))))
    ask = pick(rng, ("What does this print?", "Which output does this Python line give?", "I run this, what do I see?"))
    return Chore(f"{ask}\n```python\nprint({name}({values}))\n```", str(result), (str(off(rng, result)),))


def _slice(rng: random.Random) -> Chore:
    word = pick(rng, ("keyboard", "pipeline", "database", "notebook", "compiler", "container", "terminal", "firmware"))
    start, end = rng.randint(0, 3), rng.randint(4, 7)
    return Chore(f"In Python, what is {word!r}[{start}:{end}]?", repr(word[start:end]), (repr(word[start : end + 1]),))


def _column(rng: random.Random) -> tuple[str, str]:
    name = pick(rng, tuple(TABLES))
    return name, pick(rng, TABLES[name][1:])


def _sql(rng: random.Random) -> Chore:
    name, column = _column(rng)
    asks = (
        "Write an SQL query that counts the rows of {0} where {1} is not null.",
        "SQL: number of {0} with a value in {1}?",
        "How do I count {0} that have {1} set, in SQL?",
    )
    right = f"SELECT COUNT(*) FROM {name} WHERE {column} IS NOT NULL;"
    return Chore(pick(rng, asks).format(name, column), right, (right.replace("NOT NULL", "NULL"),))


def _sql_group(rng: random.Random) -> Chore:
    name, column = _column(rng)
    right = f"SELECT {column}, COUNT(*) AS n FROM {name} GROUP BY {column} ORDER BY n DESC;"
    wrong = f"SELECT {column}, COUNT(*) AS n FROM {name} ORDER BY {column} LIMIT 10;"
    return Chore(f"Give me a query for the number of {name} per {column}, most frequent first.", right, (wrong,))


def _json(rng: random.Random) -> Chore:
    name, age = pick(rng, ("Kim", "Ada", "Luis", "Mei", "Sam", "Ola", "Ravi")), rng.randint(18, 80)
    right = f'{{"name": "{name}", "age": {age}}}'
    return Chore(f"Turn this into JSON: name is {name}, age is {age}", right, (f'{{name: "{name}"; age: {age}}}',))


def _spreadsheet(rng: random.Random) -> Chore:
    column, last = pick(rng, tuple("ABCDEFG")), rng.randint(5, 90)
    goal, name, slip = rng.choice(_FORMULAS)
    asks = (
        "Which spreadsheet formula do I need to {0} {1}2 to {1}{2}?",
        "Excel formula: {0} cells {1}2 through {1}{2}",
    )
    cells = f"{column}2:{column}{last}"
    return Chore(pick(rng, asks).format(goal, column, last), f"={name}({cells})", (f"={slip}({cells})",))


def _complexity(rng: random.Random) -> Chore:
    what, right, others = rng.choice(table("facts")["complexity"])
    return Chore(f"What is the time complexity of {what}?", right, tuple(others), (right, *others))


def _status(rng: random.Random) -> Chore:
    rows = rng.sample(table("facts")["status"], 4)
    options = tuple(text for _, text in rows)
    return Chore(f"What does the HTTP status {rows[0][0]} mean?", options[0], options[1:], options)


BASH = _told(
    "bash",
    ("Which shell command do I use to {}?", "bash: {}", "How can I {} on Linux?", "Command line: {}, please."),
    ("{}", "Use `{}`.", "Run:\n{}"),
)
DEBUG = _told(
    "debug",
    (
        "What is wrong with this code?\n{}",
        "Why does this fail?\n{}",
        "Find the bug.\n{}",
        "My script does not work: {}",
    ),
)
FUNCTION = _told(
    "write_function",
    ("Write a Python function that {}.", "Python: a function that {}", "I need a small function which {}."),
    ("```python\n{}\n```",),
)

FAMILIES = (
    BASH,
    DEBUG,
    FUNCTION,
    _told("git", ("With git, how do I {}?", "git: {}", "How can I {} in my repository?")),
    _told("regex", ("Write a regular expression that matches {}.", "Regex for {}?"), ("`{}`", "{}")),
    *(Family(f"code/{make.__name__.strip('_')}", make) for make in (_slice, _sql, _json, _spreadsheet)),
    Family("code/python_output", _python_output, task=Task.FREEFORM_QA),
    Family("code/sql_group", _sql_group, task=Task.FREEFORM_QA),
    Family("code/complexity", _complexity, task=Task.QA_OPTIONS),
    Family("code/status", _status, task=Task.QA_OPTIONS),
    Family("code/reviewer", DEBUG.make, task=Task.IMPERSONATION, role="a senior software engineer"),
    Family("code/analyst", _sql_group, task=Task.IMPERSONATION, role="a data analyst at an online shop"),
)
