"""The tools of a desk that decides cases, and the obstacles between it and a world: pages, timeouts, limits."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from verigym.canonical import JSON
from verigym.envs.tools.tool import Refused, Tool, insert, one, rows, text, whole
from verigym.envs.tools.world import World

Db = sqlite3.Connection

PAGE = 8
"""Rows on a page."""
BURST = 12
"""Calls that change something between two calls of `wait`."""
OUTCOMES = ("done", "refused", "denied", "withdrawn")
ROLES = ("auditor", "registrar", "treasurer", "warden")
TIMEOUT = "timeout: no answer came; the call may have been carried out or not"
NOTHING_TO_ADD = "I have nothing to add."

TABLES = {
    "rules": ("id", "title", "state", "since", "body"),
    "cases": ("id", "day", "time", "person", "kind", "amount", "purpose", "particulars", "note"),
    "people": ("id", "name", "particulars"),
    "register": ("id", "name", "standing", "since"),
    "archive": ("id", "day", "person", "kind", "amount", "outcome"),
    "messages": ("id", "day", "time", "sender", "body"),
    "approvals": ("id", "case_id", "role", "state", "left", "code"),
    "decisions": ("id", "case_id", "outcome", "article", "fee", "code", "day"),
    "clock": ("id", "day"),
    "gate": ("id", "left", "count", "faults"),
    "script": ("id", "about", "place", "body"),
}
HIDDEN = ("gate", "cases", "messages")
"""Tables that are not judged: tools write them only to bring a new day, which the clock shows."""


def list_rules(db: Db) -> JSON:
    """Return the documents without their text."""
    return rows(db, "SELECT id AS document, title, state, since FROM rules ORDER BY id")


def read_rules(db: Db, document: int) -> JSON:
    """Return a document."""
    return one(db, f"there is no document {document}", "SELECT * FROM rules WHERE id = ?", document)


def today(db: Db) -> JSON:
    """Return the day."""
    return str(one(db, "there is no day", "SELECT day FROM clock")["day"])


def list_cases(db: Db) -> JSON:
    """Return the cases of today in the order of their numbers."""
    return rows(
        db,
        "SELECT id AS 'case', time, person, kind FROM cases WHERE day = (SELECT day FROM clock) "
        "ORDER BY id",
    )


def read_case(db: Db, case: int) -> JSON:
    """Return all that a case says."""
    found = _case(db, case)
    particulars = json.loads(str(found.pop("particulars")))
    return {**found, **particulars}


def read_person(db: Db, name: str) -> JSON:
    """Return what is known of a person."""
    missing = f"there is nobody of the name {name[:60]!a}"
    found = one(db, missing, "SELECT * FROM people WHERE name = ?", name)
    return {"name": found["name"], **json.loads(str(found["particulars"]))}


def list_register(db: Db) -> JSON:
    """Return the entries of the register."""
    return rows(db, "SELECT name, standing, since FROM register ORDER BY id")


def list_archive(db: Db) -> JSON:
    """Return the cases of earlier days."""
    return rows(db, "SELECT day, person, kind, amount, outcome FROM archive ORDER BY id")


def list_messages(db: Db) -> JSON:
    """Return the messages of today in the order of their numbers."""
    return rows(
        db,
        "SELECT time, sender, body FROM messages WHERE day = (SELECT day FROM clock) ORDER BY id",
    )


def ask_requester(db: Db, case: int) -> JSON:
    """Return what the requester of a case answers."""
    _case(db, case)
    found = rows(db, "SELECT body FROM script WHERE place = 'answer' AND about = ?", str(case))
    return found[0]["body"] if found else NOTHING_TO_ADD


def ask_approval(db: Db, case: int, role: str) -> JSON:
    """Ask for an approval, once for a case."""
    _case(db, case)
    if rows(db, "SELECT id FROM approvals WHERE case_id = ?", case):
        raise Refused(f"the approval of case {case} has been asked for already")
    ends = rows(db, "SELECT body FROM script WHERE place = 'approval' AND about = ?", str(case))
    left = json.loads(str(ends[0]["body"]))["left"] if ends else 2
    insert(db, "approvals", case_id=case, role=role, state="waiting", left=left, code="none")
    return {"case": case, "state": "waiting"}


def read_approval(db: Db, case: int) -> JSON:
    """Return the state of an approval."""
    missing = f"no approval of case {case} has been asked for"
    query = "SELECT case_id AS 'case', role, state, code FROM approvals WHERE case_id = ?"
    return one(db, missing, query, case)


def wait(db: Db) -> JSON:
    """Let some time pass: approvals come closer, and more calls are taken."""
    db.execute("UPDATE gate SET left = ?", (BURST,))
    db.execute("UPDATE approvals SET left = left - 1 WHERE state = 'waiting'")
    for row in rows(db, "SELECT * FROM approvals WHERE state = 'waiting' AND left = 0"):
        ends = rows(
            db,
            "SELECT body FROM script WHERE place = 'approval' AND about = ?",
            str(row["case_id"]),
        )
        end = json.loads(str(ends[0]["body"])) if ends else {"state": "denied", "code": "none"}
        db.execute(
            "UPDATE approvals SET state = ?, code = ? WHERE id = ?",
            (end["state"], end["code"], row["id"]),
        )
    return "Some time has passed."


def record_decision(db: Db, case: int, outcome: str, article: str, fee: int, code: str) -> JSON:
    """Record how a case of today ended."""
    found = _case(db, case)
    insert(
        db,
        "decisions",
        case_id=case,
        outcome=outcome,
        article=article,
        fee=fee,
        code=code,
        day=found["day"],
    )
    return {"recorded": case}


def defer_case(db: Db, case: int, article: str) -> JSON:
    """Record that a case of today is deferred."""
    record_decision(db, case, "deferred", article, 0, "none")
    return {"deferred": case}


def list_decisions(db: Db) -> JSON:
    """Return the decisions that were recorded."""
    query = "SELECT case_id AS 'case', outcome, article, fee, code FROM decisions ORDER BY id"
    return rows(db, query)


def next_day(db: Db) -> JSON:
    """Begin the next day, with what it brings. There is no way back."""
    day = today(db)
    later = rows(
        db,
        "SELECT about, place, body FROM script WHERE place IN ('cases', 'messages') AND about > ? "
        "ORDER BY about, id",
        day,
    )
    if not later:
        raise Refused("today is the last day")
    for row in later:
        if row["about"] == later[0]["about"]:
            values = json.loads(str(row["body"]))
            marks = ", ".join("?" * len(values))
            db.execute(f"INSERT INTO {row['place']} VALUES ({marks})", values)
    db.execute("UPDATE clock SET day = ?", (later[0]["about"],))
    return {"today": later[0]["about"]}


def _case(db: Db, case: int) -> dict[str, JSON]:
    """Return a case of today."""
    found = one(db, f"there is no case {case}", "SELECT * FROM cases WHERE id = ?", case)
    if found["day"] != today(db):
        raise Refused(f"case {case} is of {found['day']}, which is past")
    return found


def paged(tool: Tool) -> Tool:
    """Return the tool with a page more among its arguments; its answer is a list."""

    def run(db: Db, page: int = 1, **arguments: JSON) -> JSON:
        found = tool.run(db, **arguments)
        assert isinstance(found, list)
        pages = max(1, -(-len(found) // PAGE))
        if page > pages:
            raise Refused(f"there are {pages} pages, got page {page}")
        return {"page": page, "of": pages, "rows": found[PAGE * (page - 1) : PAGE * page]}

    return replace(
        tool,
        about=f"{tool.about} {PAGE} on a page.",
        parameters={**tool.parameters, "page": whole("Which page, from 1.", 1)},
        run=run,
        optional=tool.optional | {"page"},
    )


def flaky(tool: Tool) -> Tool:
    """Return the tool behind a gate: after `BURST` calls it wants a `wait`, and some calls bring no answer.

    The pattern of faults is a text in the gate: `x` is a call that is lost, `t` one that is carried out though no
    answer comes."""

    def run(db: Db, **arguments: JSON) -> JSON:
        if arguments.get("method") == "GET":
            return tool.run(db, **arguments)
        gate = one(db, "the gate is missing", "SELECT * FROM gate")
        if not gate["left"]:
            raise Refused(f"too many changes: at most {BURST} between two waits; call wait first")
        answer = tool.run(db, **arguments)  # before anything is lost: a wrong call says so
        faults = str(gate["faults"])
        fault = faults[gate["count"] % len(faults)]
        if fault == "x":
            db.execute("ROLLBACK TO call")
        db.execute("UPDATE gate SET left = left - 1, count = count + 1")
        return answer if fault == "." else TIMEOUT

    def saved(db: Db, **arguments: JSON) -> JSON:
        db.execute("SAVEPOINT call")
        return run(db, **arguments)

    return replace(tool, run=saved, tables=(*tool.tables, "gate"), writes=(*tool.writes, "gate"))


_CASE = {"case": whole("Number of a case of today.")}
_C = ("cases", "clock")

_READING = (
    Tool(
        "read_rules",
        "Read a document of the rules.",
        {"document": whole("Its number.")},
        *(read_rules, ("rules",)),
    ),
    Tool("today", "The day that it is.", {}, today, ("clock",)),
    Tool("read_case", "Read a case of today.", _CASE, read_case, _C),
    Tool(
        "read_person",
        "Read what is known of a person.",
        {"name": text("The full name.")},
        *(read_person, ("people",)),
    ),
    Tool(
        "ask_requester",
        "Ask the requester of a case whether something is missing or has changed.",
        _CASE,
        *(ask_requester, (*_C, "script")),
    ),
    Tool(
        "read_approval",
        "Read how the approval of a case stands.",
        {"case": whole("Number of a case.")},
        *(read_approval, ("approvals",)),
    ),
)
_LISTS = (
    Tool("list_rules", "List the documents of the rules.", {}, list_rules, ("rules",)),
    Tool("list_cases", "List the cases of today.", {}, list_cases, _C),
    Tool("list_register", "List the register of standings.", {}, list_register, ("register",)),
    Tool("list_archive", "List the cases before your time.", {}, list_archive, ("archive",)),
    Tool("list_messages", "List the messages of today.", {}, list_messages, ("messages", "clock")),
    Tool(
        "list_decisions",
        "List the decisions that were recorded.",
        {},
        *(list_decisions, ("decisions",)),
    ),
)
_CHANGING = (
    Tool(
        "ask_approval",
        "Ask a role to approve a case of today; it is decided after a while.",
        {**_CASE, "role": text("Whom.", *ROLES)},
        *(ask_approval, (*_C, "approvals", "script"), ("approvals",)),
    ),
    Tool(
        "record_decision",
        "Record how a case of today ended.",
        {
            **_CASE,
            "outcome": text("How it ended.", *OUTCOMES),
            "article": text("Number of the article that decided, such as H2; or none."),
            "fee": whole("The fee, or 0.", 0),
            "code": text("Code of the approval, or none."),
        },
        *(record_decision, (*_C, "decisions"), ("decisions",)),
    ),
)
_DEFERRING = Tool(
    "defer_case",
    "Record that a case of today is deferred, with fee 0 and no code.",
    {**_CASE, "article": text("Number of the article that let it pass, such as H2; or none.")},
    *(defer_case, (*_C, "decisions"), ("decisions",)),
)
_MOVING = (
    Tool(
        "wait",
        "Let some time pass.",
        {},
        *(wait, ("gate", "approvals", "script"), ("gate", "approvals")),
    ),
    Tool(
        "next_day",
        "End today and begin the next day; what was not done today can no longer be done.",
        {},
        *(next_day, ("clock", "script", "cases", "messages"), ("clock", "cases", "messages")),
    ),
)
CORE = tuple(tool.name for tool in (*_READING, *_LISTS, *_CHANGING, *_MOVING))
"""Tools of the desk, which every task with cases offers."""
BUDGETED = (_DEFERRING.name,)
"""Tools that tasks with budgets offer besides."""
DECIDING = ("record_decision", *BUDGETED)
"""Tools that say how a case ended."""


def with_desk(world: World, more: Sequence[Tool] = ()) -> World:
    """Return a world with the tables and tools of a desk, and `more` tools: its lists come in pages, its changes are
    flaky."""
    own = {**world.tools, **{tool.name: tool for tool in more}}
    lists = [tool for tool in own.values() if tool.name.startswith("list_")]
    changing = [tool for tool in own.values() if tool.writes]
    plain = {t.name: t for t in (*_READING, *_LISTS, *_CHANGING, _DEFERRING, *_MOVING)}
    met = {
        **{tool.name: flaky(tool) for tool in (*changing, *_CHANGING, _DEFERRING)},
        **{tool.name: paged(tool) for tool in (*lists, *_LISTS)},
    }
    tools = {**own, **plain}
    return World(
        world.name,
        {**world.tables, **TABLES},
        {name: met.get(name, tool) for name, tool in tools.items()},
        tools,
    )
