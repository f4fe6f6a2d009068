"""Sums, conversions, equations and the like, in English."""

from __future__ import annotations

import datetime
import random

from excam.dataset.assistant.family import Chore, Family, off, pick
from excam.dataset.item import Task

PEOPLE = (
    "Anna",
    "Mateo",
    "Wei",
    "Fatima",
    "Kofi",
    "Priya",
    "Yuki",
    "Omar",
    "Lucía",
    "Ivan",
    "Aisha",
    "Tom",
    "Noor",
    "Linh",
)
PLACES = ("Lagos", "Osaka", "Lima", "Hamburg", "Jakarta", "Cairo", "Toronto", "Madrid", "Seoul", "Nairobi")


def _number(rng: random.Random, question: str, form: str, value: int) -> Chore:
    return Chore(question, form.format(value), (form.format(off(rng, value)), form.format(off(rng, value))))


def _sum(rng: random.Random) -> Chore:
    a, b = rng.randint(12, 9999), rng.randint(12, 9999)
    ask = pick(rng, ("What is {} + {}?", "Add {} and {}.", "Compute {} plus {}", "Can you sum {} and {} for me?"))
    return _number(rng, ask.format(a, b), pick(rng, ("{}", "The sum is {}.", f"{a} + {b} = {{}}")), a + b)


def _product(rng: random.Random) -> Chore:
    a, b = rng.randint(11, 99), rng.randint(11, 99)
    ask = pick(rng, ("What is {} times {}?", "Multiply {} by {}.", "Calculate {} × {}, please."))
    return _number(rng, ask.format(a, b), pick(rng, ("{}", "It is {}.", f"{a} × {b} = {{}}")), a * b)


def _percent(rng: random.Random) -> Chore:
    percent, base = rng.choice((5, 10, 15, 20, 25, 30, 40, 60, 75)), rng.randint(2, 90) * 20
    ask = pick(rng, ("What is {}% of {}?", "An invoice reads {1} and I get {0}% off: how much do I save?"))
    return _number(
        rng, ask.format(percent, base), pick(rng, ("{}", "That is {}.", "You get {}.")), percent * base // 100
    )


def _story(rng: random.Random) -> Chore:
    one, other = rng.sample(PEOPLE, 2)
    a, b, c = rng.randint(20, 90), rng.randint(3, 19), rng.randint(2, 40)
    thing = pick(rng, ("marbles", "stickers", "pens", "tickets", "coins", "stamps", "cards"))
    question = f"{one} has {a} {thing}, gives {b} to {other} and then finds {c} more. How many {thing} does {one} have?"
    return _number(rng, question, pick(rng, ("{}", f"{one} has {{}} {thing}.")), a - b + c)


def _trip(rng: random.Random) -> Chore:
    start, end = rng.sample(PLACES, 2)
    speed, hours = rng.randint(4, 18) * 5, rng.randint(2, 9)
    question = f"A train from {start} to {end} goes {speed} km/h for {hours} hours. How far does it travel?"
    return _number(rng, question, "{} km", speed * hours)


def _convert(rng: random.Random) -> Chore:
    unit, small, factor = rng.choice(
        (
            ("kilometres", "metres", 1000),
            ("kilograms", "grams", 1000),
            ("hours", "minutes", 60),
            ("litres", "millilitres", 1000),
            ("feet", "inches", 12),
            ("gigabytes", "megabytes", 1024),
            ("days", "hours", 24),
            ("metres", "centimetres", 100),
        )
    )
    amount = rng.randint(2, 160)
    ask = pick(rng, ("Convert {} {} to {}.", "How many {2} are {0} {1}?", "{} {} in {}?"))
    return _number(rng, ask.format(amount, unit, small), pick(rng, ("{} " + small, "{}")), amount * factor)


def _temperature(rng: random.Random) -> Chore:
    celsius = rng.randint(-8, 24) * 5
    return _number(rng, f"What is {celsius} °C in Fahrenheit?", "{} °F", celsius * 9 // 5 + 32)


def _equation(rng: random.Random) -> Chore:
    a, x, b = rng.randint(2, 12), rng.randint(2, 30), rng.randint(1, 40)
    ask = pick(rng, ("Solve for x: {}x + {} = {}", "If {}x + {} = {}, what is x?", "Find x such that {}x + {} = {}."))
    return _number(rng, ask.format(a, b, a * x + b), pick(rng, ("x = {}", "x equals {}", "{}")), x)


def _mean(rng: random.Random) -> Chore:
    mean, spread = rng.randint(10, 80), rng.randint(1, 9)
    values = [mean - spread, mean, mean + spread, mean - 2, mean + 2]
    rng.shuffle(values)
    return _number(rng, f"What is the average of {', '.join(map(str, values))}?", "The average is {}.", mean)


def _area(rng: random.Random) -> Chore:
    a, b = rng.randint(3, 40), rng.randint(3, 40)
    return _number(rng, f"A room is {a} m long and {b} m wide. What is its floor area?", "{} square metres", a * b)


def _sequence(rng: random.Random) -> Chore:
    first, step = rng.randint(1, 30), rng.randint(2, 12)
    shown = ", ".join(str(first + step * place) for place in range(5))
    return _number(rng, f"Which number comes next: {shown}?", "{}", first + 5 * step)


def _binary(rng: random.Random) -> Chore:
    value = rng.randint(9, 250)
    return _number(rng, f"What is the binary number {value:b} in decimal?", "{}", value)


def _prime(rng: random.Random) -> Chore:
    value = rng.randint(21, 400)
    divisor = next((d for d in range(2, value) if value % d == 0), None)
    yes, no = f"Yes, {value} is prime.", f"No, {value} is not prime; it is divisible by {divisor or 7}."
    return Chore(f"Is {value} a prime number?", yes if divisor is None else no, (no if divisor is None else yes,))


def _days(rng: random.Random) -> Chore:
    start = datetime.date(2024, 1, 1) + datetime.timedelta(days=rng.randint(0, 700))
    gap = rng.randint(5, 120)
    question = f"How many days are there from {start} to {start + datetime.timedelta(days=gap)}?"
    return _number(rng, question, "{} days", gap)


def _split_bill(rng: random.Random) -> Chore:
    people, each = rng.randint(3, 9), rng.randint(8, 60)
    question = f"The total is {people * each} euros for {people} items of the same price. What does one cost?"
    return _number(rng, question, "{} euros", each)


def _options(rng: random.Random) -> Chore:
    a, b = rng.randint(3, 15), rng.randint(3, 15)
    values = [a * b]
    while len(values) < 4:
        slip = off(rng, a * b)
        if slip not in values and slip > 0:
            values.append(slip)
    shown = tuple(str(value) for value in values)
    return Chore(f"What is {a} × {b}?", shown[0], shown[1:], shown)


FAMILIES = (
    *(
        Family(f"numbers/{make.__name__.strip('_')}", make)
        for make in (
            _percent,
            _story,
            _trip,
            _temperature,
            _equation,
            _mean,
            _area,
            _binary,
            _prime,
            _days,
            _split_bill,
        )
    ),
    *(
        Family(f"numbers/{make.__name__.strip('_')}", make, task=Task.FREEFORM_QA)
        for make in (_sum, _product, _convert, _sequence)
    ),
    Family("numbers/options", _options, task=Task.QA_OPTIONS),
    Family("numbers/tutor", _equation, task=Task.IMPERSONATION, role="a maths tutor"),
    Family("numbers/accountant", _percent, task=Task.IMPERSONATION, role="an accountant in a small firm"),
)
