"""Columns in which one row decides about the next: computed again in Python, row by row, from the words of the question."""

import re
import sqlite3
from collections import Counter
from datetime import date

import numpy as np
import pytest

from verigym.envs.sql.columns_beside_others import COVERAGE
from verigym.envs.sql.columns_in_store import COUNTERS, LAYERS
from verigym.envs.sql.columns_step_by_step import APART, COVER, SPELLS, TANK
from verigym.envs.sql.columns_with_memory import DESK, LEAVING, SPOILT
from verigym.envs.sql.domains import DOMAINS

COMPARED = {
    "above": int.__gt__,
    "at least": int.__ge__,
    "below": int.__lt__,
    "at most": int.__le__,
}
SIDE = "(above|at least|below|at most) (\\d+)"
FIRST = date(2021, 1, 1).toordinal()


def world(seed, domain):
    """Owners, things (id, owner, kind, price) and events (id, thing, amount, day)."""
    rng = np.random.Generator(np.random.PCG64(seed))
    things = [
        (i, int(rng.integers(1, 7)), domain.kinds[int(rng.integers(3))], int(rng.integers(*domain.prices)))
        for i in range(1, 15)
    ]  # fmt: skip
    low, high = domain.amounts
    days = FIRST + 30 * rng.integers(0, 12, 90) + rng.integers(0, 3, 90)
    events = [
        (i, int(rng.integers(1, 15)), int(rng.integers(low, high)), str(date.fromordinal(int(day))))
        for i, day in enumerate(days, 1)
    ]
    return range(1, 8), things, events


def answered(variant, rows):
    """Return SQLite's answer for each owner."""
    d, (owners, things, events) = variant.domain, rows
    db = sqlite3.connect(":memory:")
    db.executescript(d.ddl())
    db.executemany(
        f"INSERT INTO {d.owner} VALUES (?, ?, NULL)", [(owner, "name") for owner in owners]
    )
    db.executemany(f"INSERT INTO {d.thing} VALUES (?, ?, ?, ?)", things)
    db.executemany(f"INSERT INTO {d.event} VALUES (?, ?, ?, ?)", events)
    found = db.execute(f"SELECT o.id, {variant.query} FROM {d.owner} o").fetchall()
    db.close()
    return dict(found)


def chosen(words, events):
    """The events on the side of the bound that the question states."""
    name, bound = re.search(SIDE, words).groups()
    return [one for one in events if COMPARED[name](one[2], int(bound))]


def ordinal(event):
    return date.fromisoformat(event[3]).toordinal()


def spells(words, events, d, _owner, _rows):
    """The figure of one owner, whose events are in order of day and id."""
    groups = [events]
    if f"each of its {d.thing_words} on its own" in words:
        groups = [[e for e in events if e[1] == thing] for thing in {e[1] for e in events}]
    most = 30 if "more than 30 days" in words else 29
    found = []
    for group in groups:
        before = None
        for event in chosen(words, group):
            if before is not None and ordinal(event) - ordinal(before) <= most:
                found[-1].append(event)
            else:
                found.append([event])
            before = event
    if "the number of spells" in words:
        return len(found)
    if "largest total" in words:
        return max((sum(e[2] for e in one) for one in found), default=0)
    if "from the first to the last" in words:
        return max((ordinal(one[-1]) - ordinal(one[0]) for one in found), default=0)
    return max(map(len, found), default=0)


def cover(words, events, _d, _owner, _rows):
    long = int(re.search(r"goes on for (\d+) days", words)[1])
    days = Counter(ordinal(event) + i for event in chosen(words, events) for i in range(long))
    if "at least one of them" in words:
        return len(days)
    if "at least two of them" in words:
        return sum(n > 1 for n in days.values())
    return max(days.values(), default=0)


def tank(words, events, d, _owner, rows):
    kinds = {thing: kind for thing, _, kind, _ in rows[1]}
    size = int(re.search(r"a tank that holds (\d+)", words)[1])
    sort, kind = re.search(rf"whose {d.kind} (is|is not) '(\w+)' pour", words).groups()
    held = lost = vain = highest = emptied = 0
    for _, thing, amount, _ in events:
        if (kinds[thing] == kind) == (sort == "is"):
            poured = min(amount, size - held)
            held, lost = held + poured, lost + amount - poured
        else:
            drawn = min(amount, held)
            held, vain = held - drawn, vain + amount - drawn
            emptied += held == 0
        highest = max(highest, held)
    figures = {
        "what is in the tank at the end, 0 if nothing is": held,
        "the total that is lost, 0 if nothing is": lost,
        "the total that is asked for in vain, 0 if nothing is": vain,
        "the highest that the tank ever holds, 0 if it stays empty": highest,
        "how many of those that draw leave it empty": emptied,
    }
    return figures[words.rpartition(": ")[2]]


def layers(words, events, d, _owner, rows):
    things = {thing[0]: thing for thing in rows[1]}
    sort, kind = re.search(rf"whose {d.kind} (is|is not) '(\w+)' bring", words).groups()
    first_in = "have been there longest" in words
    store, taken, sources = [], [], []
    for number, thing, amount, _ in events:
        if amount < 1:
            continue
        if (things[thing][2] == kind) == (sort == "is"):
            store += [(things[thing][3], number)] * amount
        else:
            out = [store.pop(0 if first_in else -1) for _ in range(min(amount, len(store)))]
            taken.append(sum(worth for worth, _ in out))
            sources.append(len({source for _, source in out}))
    if "left at the end" in words:
        return sum(worth for worth, _ in store)
    if "how many of them" in words:
        return sum(n > 1 for n in sources)
    if "the largest number" in words:
        return max(sources, default=0)
    return max(taken, default=0) if "highest total worth" in words else sum(taken)


def counters(words, events, _d, _owner, _rows):
    long = int(re.search(r"free again (\d+) days", words)[1])
    served = {one[0] for one in chosen(words, events)}
    free, waits, at = [0, 0], [], []
    for event in events:
        day = ordinal(event)
        which = 0 if max(free) <= day else free.index(min(free))
        start = max(day, free[which])
        free[which] = start + (long if event[0] in served else 20)
        waits.append(start - day)
        at.append(which)
    if "counter 2;" in words:
        return sum(at)
    if "do not begin" in words:
        return sum(wait > 0 for wait in waits)
    return sum(waits) if "the total number of days" in words else max(waits, default=0)


def desk(words, events, d, _owner, _rows):
    left_out = {one[0] for one in chosen(words.replace("room for two", ""), events)}
    last_needed = "needed longest ago" in words
    there, fetched, found, row, best = [], 0, 0, 0, 0
    for number, thing, *_ in events:
        if number in left_out:
            continue
        if thing in there:
            found += 1
            row += 1
            best = max(best, row)
            if last_needed:
                there.remove(thing)
                there.append(thing)
            continue
        fetched, row = fetched + 1, 0
        there = [*there[-1:], thing]
    if "how often" in words:
        return fetched
    return best if "largest number" in words else found


def spoilt(words, events, d, _owner, rows):
    kinds = {thing: kind for thing, _, kind, _ in rows[1]}
    sort, kind = re.search(rf"whose {d.kind} (is|is not) '(\w+)' bring", words).groups()
    age = int(re.search(r"came in (\d+) days before", words)[1])
    store, thrown, vain, short, most = [], 0, 0, 0, 0
    for event in events:
        _, thing, amount, _ = event
        if amount < 1:
            continue
        kept = [came for came in store if ordinal(event) - came < age]
        thrown, store = thrown + len(store) - len(kept), kept
        if (kinds[thing] == kind) == (sort == "is"):
            store += [ordinal(event)] * amount
        else:
            taken = min(amount, len(store))
            store = store[taken:]
            vain += amount - taken
            short += taken < amount
        most = max(most, len(store))
    if "thrown away: the total number of units thrown away;" in words:
        return thrown
    if "in vain" in words:
        return vain
    return short if "get fewer" in words else most


def leaving(words, events, _d, _owner, _rows):
    patience = int(re.search(r"wait more than (\d+) days", words)[1])
    long = int(re.search(r"free again (\d+) days", words)[1])
    served = {one[0] for one in chosen(words, events)}
    free, left, waited = 0, 0, 0
    for event in events:
        day = ordinal(event)
        if free > day + patience:
            left += 1
            continue
        waited += max(0, free - day)
        free = max(free, day) + (long if event[0] in served else 15)
    if words.endswith("how many of them leave; 0 if there are none"):
        return left
    return waited if "others wait" in words else len(events) - left


def apart(words, events, _d, _owner, _rows):
    strictly = "that is more than" in words
    gap = int(re.search(r"that is (?:at least|more than) (\d+) days", words)[1])
    picked = []
    for event in chosen(words, events):
        if not picked or ordinal(event) - ordinal(picked[-1]) >= gap + strictly:
            picked.append(event)
    if words.endswith("number of those picked"):
        return len(picked)
    if "the total" in words:
        return sum(event[2] for event in picked) if picked else None
    return picked[-1][3] if picked else None


def coverage(words, _events, d, owner, rows):
    owners, things, events = rows
    name, bound = re.search(rf"with {d.price} {SIDE}$", words).groups()
    busy = {event[1] for event in events}
    needed = {
        one[2]
        for one in things
        if one[1] == owner and (f"that have {d.event_words}" not in words or one[0] in busy)
    }
    total = 0
    for other in owners:
        has = {one[2] for one in things if one[1] == other and COMPARED[name](one[3], int(bound))}
        if other != owner:
            total += (
                needed <= has if "for each of them" in words
                else not needed & has if "for none of them" in words
                else bool(needed & has) if "at least one of them some" in words
                else bool(needed - has)
            )  # fmt: skip
    return total


@pytest.mark.parametrize(
    ("kind", "by_hand"),
    [
        (SPELLS, spells),
        (COVER, cover),
        (TANK, tank),
        (APART, apart),
        (COVERAGE, coverage),
        (LAYERS, layers),
        (COUNTERS, counters),
        (DESK, desk),
        (SPOILT, spoilt),
        (LEAVING, leaving),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_python_finds_the_same_row_by_row(kind, by_hand):
    met = set()
    for seed in range(40):
        domain = DOMAINS[seed % len(DOMAINS)]
        variant = kind.draw(np.random.Generator(np.random.PCG64(seed)), domain)
        rows = world(seed, domain)
        owner_of = {thing: owner for thing, owner, _, _ in rows[1]}
        for owner, found in answered(variant, rows).items():
            its = [event for event in rows[2] if owner_of[event[1]] == owner]
            its.sort(key=lambda event: (event[3], event[0]))
            right = by_hand(variant.question, its, domain, owner, rows)
            assert found == right, (seed, owner, variant.question)
            met.add(found)
    assert len(met) > 5
