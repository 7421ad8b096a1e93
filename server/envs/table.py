"""The table of sessions: their owners and progress; each step happens exactly once.

A session is defined by its requests: environment, parameters, seed, options and actions. Its host is a
detail: if the host dies, the session is made again from these in another before its next step (law 2).
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from collections import Counter, deque
from collections.abc import Callable
from typing import Any, assert_never

import msgspec

from verigym.errors import RequestError, suggestion
from verigym.registry import resolve_id
from verigym.server.envs import messages
from verigym.server.envs.hosts import Host, Hosts
from verigym.server.envs.leases import Leases
from verigym.server.envs.loans import Loan
from verigym.server.envs.messages import (
    Answer,
    Done,
    History,
    Invalid,
    LentStep,
    Phase,
    RequestFailed,
    SessionLost,
    SocketBack,
)
from verigym.server.envs.session import EnvSession, Move, Reply, Restart, SessionStep
from verigym.server.envs.wire import CreateBody
from verigym.server.refusals import Refusal
from verigym.server.settings import ServerSettings
from verigym.server.shares import fits
from verigym.server.websockets import WebSocketConnection

_log = logging.getLogger(__name__)

_MOST_WAITING = 64
"""Maximum number of requests that wait in one session."""
_MOST_HISTORY = 8 << 20
"""Maximum number of characters in a session's actions since its last reset."""

_SHORT = 256
_BACK_S = 1.0
"""Seconds that the end of a session is put off if the socket of its client is lent."""

_encode = msgspec.json.Encoder(order="deterministic").encode


class SessionTable:
    """All sessions of a service. On the event loop."""

    def __init__(
        self, settings: ServerSettings, names: list[str], n_callers: Callable[[], int]
    ) -> None:
        self.settings = settings
        self.names = names
        """Ids of the served environments."""
        self.hosts = Hosts(
            names,
            settings.env_workers,
            timeout_s=settings.timeout_s,
            longest_message=settings.max_body_bytes,
            on_death=self._orphan,
            sql_engines=settings.sql_engines,
            keep_env=settings.worker_env,
        )
        self._loop = asyncio.get_running_loop()
        self._sessions: dict[str, EnvSession] = {}
        self._by_host: dict[Host, set[EnvSession]] = {}
        self._leases: Leases[EnvSession] = Leases(self._expire)
        self._owned: dict[str, int] = {}
        self._n_callers = n_callers
        self._numbers = 0
        self.moves: Counter[str] = Counter()
        """Number of finished steps and resets by status: `ok` or that of a fault."""

    def __len__(self) -> int:
        return len(self._sessions)

    async def close(self) -> None:
        """End all sessions."""
        self._leases.close()
        await self.hosts.close()

    def env_id(self, name: str, where: str = "$.env") -> str:
        """Return the id of a served environment from a full or short `name`. Raises Refusal."""
        try:
            id = resolve_id(name)
        except RequestError:
            id = ""
        if id not in self.names:
            short = [known.removeprefix("verigym/") for known in self.names]
            message = f"unknown environment; {suggestion(name.removeprefix('verigym/'), short)}"
            raise Refusal(404, "unknown_env", message, where)
        return id

    def of(self, owner: str) -> list[EnvSession]:
        """Return the sessions of one owner, oldest first."""
        mine = [session for session in self._sessions.values() if session.owner == owner]
        return [session for session in mine if session.answer]  # others have not begun

    def find(self, owner: str, id: str) -> EnvSession:
        """Return a session of `owner`. Raises Refusal, the same for a session of another owner."""
        session = self._sessions.get(id)
        if session is None or session.owner != owner:
            message = f"no such session; one that is not used for {self.settings.session_lease_s:g} s ends"
            raise Refusal(404, "unknown_session", message, "$.session")
        return session

    def renew(self, session: EnvSession) -> None:
        """Renew the session's lease."""
        session.expires = self._loop.time() + self.settings.session_lease_s

    def create(self, owner: str, ask: CreateBody, reply: Reply) -> None:
        """Create `ask.count` sessions in the same state. Raises Refusal."""
        env = self.env_id(ask.env)
        _check_sendable([ask.params, ask.options])
        self._check_room(owner, ask.count)
        start = History(env, ask.params, ask.seed, ask.options)
        sessions = []
        for _ in range(ask.count):
            self._numbers += 1
            session = EnvSession(secrets.token_urlsafe(16), self._numbers, owner, env)
            session.start = start
            session.busy = True  # nobody knows its id yet, and its lease has not begun
            session.expires = float("inf")
            self._sessions[session.id] = session
            sessions.append(session)
        self._owned[owner] = self._owned.get(owner, 0) + ask.count
        numbers = [session.number for session in sessions]

        def write(number: int, host: Host) -> messages.Request:
            for session in sessions:
                self._place(session, host)
            return messages.MakeSessions(number, numbers, start)

        def then(answer: Answer) -> None:
            if isinstance(answer, Done):
                reply(self._begun(sessions, start, answer), False)
                return
            for session in sessions:
                self.drop(session)
            match answer:
                case Invalid():
                    reply(_refusal(answer), False)
                case RequestFailed():
                    self._log_fault(answer, env)
                    message = f"the environment could not be started: {answer.reason}"
                    reply(Refusal(503, "env_fault", message), False)
                case SessionLost():
                    reply(Refusal(503, "env_fault", "the environment could not be started"), False)
                case _:
                    assert_never(answer)

        self.hosts.send(write, then)

    def move(self, session: EnvSession, seq: int | None, move: Move, reply: Reply) -> None:
        """Step or reset exactly once, after all earlier requests. Raises Refusal.

        `seq` is the number that the client gave the move; None takes the next."""
        if isinstance(move, Restart):
            _check_sendable([move.options])
        self.renew(session)
        if session.busy:
            if len(session.waiting) >= _MOST_WAITING:
                message = f"{_MOST_WAITING} requests wait in this session already"
                raise Refusal(429, "busy", message, "$.session", {"Retry-After": "1"})
            session.waiting.append((seq, move, reply))
            self.recall(session)
        else:
            self._move(session, seq, move, reply)

    def state(self, session: EnvSession) -> bytes:
        """Return the session's progress as JSON."""
        last = msgspec.json.decode(session.answer)
        state = {
            "session": session.id,
            "env": session.env,
            "seq": session.seq,
            "state_key": last["info"].get("state_key"),
            "task_id": last["info"].get("task_id"),
            "turn": len(session.actions),
            "terminated": last.get("terminated", False),
            "truncated": last.get("truncated", False),
            "busy": session.busy and session.loan is None,
            "lease_s": round(max(0.0, session.expires - self._loop.time()), 3),
        }
        return _encode(state)

    def lend(
        self,
        session: EnvSession,
        connection: WebSocketConnection,
        on_step: Callable[[LentStep], None],
        on_back: Callable[[bytes | Refusal | None, bytes], None],
        *,
        has_frames: bool = False,
    ) -> bool:
        """Have the session's host answer the plain steps on `connection`; return False if it cannot now.

        They are frames of `/v1/ws` if `has_frames`, else messages of OpenEnv. `on_step` is called after each step.
        `on_back` is called once, when the connection is back, with the answer that the client is still to get, if
        there is one, and the id of its request. Until then, use nothing of the connection, and ask for it with `recall`.
        """
        host = session.host
        is_idle = not (session.busy or session.waiting)
        if host is None or not is_idle or session.over or session.gone:
            return False

        def played(report: LentStep) -> None:
            done = Done(0, report.body)
            self._record(session, session.seq + 1, SessionStep(report.action), done)
            self.renew(session)
            on_step(report)
            if session.history_chars > _MOST_HISTORY:
                self.recall(session)

        def end(answer: Answer | None, action: str = "") -> None:
            session.loan = None
            session.busy = False
            if answer is None:
                on_back(None, b"")
                self._move_on(session)
                return

            def reply(answer: bytes | Refusal, again: bool) -> None:
                on_back(answer, loan.id)

            self._moved(session, session.seq + 1, SessionStep(action), answer, reply)

        def back(report: SocketBack) -> None:
            connection.take_back(report.unsent)
            end(report.answer, report.action or "")
            connection.read_again(report.unread)

        def lost(phase: Phase, is_late: bool) -> None:
            if phase in (Phase.WAITING, Phase.PLAYING):
                connection.take_back()
            else:
                connection.break_off()
            fault = ("timeout", "deadline") if is_late else ("infra", "worker_died")
            end(RequestFailed(0, *fault) if phase is Phase.PLAYING else None)

        frames_of = session.id if has_frames else ""
        loan = Loan(session.number, connection, played, back, lost, frames_of, session.seq)
        if not host.lend(loan):
            return False
        session.busy = True
        session.loan = loan
        return True

    def recall(self, session: EnvSession) -> None:
        """Ask for the socket of the session if it is lent."""
        if session.loan is not None and session.host is not None:
            session.host.recall(session.loan)

    @property
    def n_lent(self) -> int:
        """Return the number of lent sockets."""
        return self.hosts.n_lent

    def recall_all(self) -> None:
        """Ask for all lent sockets."""
        self.hosts.recall_all()

    def drop(self, session: EnvSession) -> None:
        """End a session; its waiting requests are refused."""
        if session.gone:
            return
        session.gone = True
        del self._sessions[session.id]
        self._leases.forget(session)
        left = self._owned[session.owner] - 1
        if left:
            self._owned[session.owner] = left
        else:
            del self._owned[session.owner]
        if session.host is not None:
            session.host.queue(messages.DropSessions([session.number]))
            self._place(session, None)
        waiting, session.waiting = session.waiting, deque()
        for _, _, reply in waiting:
            reply(Refusal(404, "unknown_session", "the session has ended", "$.session"), False)

    # Internals.

    def _check_room(self, owner: str, count: int) -> None:
        most, every = self.settings.max_sessions_per_key, self.settings.max_sessions
        if count > min(most, every):
            message = f"at most {min(most, every)} sessions may be open"
            raise Refusal(422, "invalid_request", message, "$.count")
        own, taken = self._owned.get(owner, 0), len(self._sessions)
        if own + count > most:
            message = f"{most} sessions of this key may be open; close some or try again later"
        elif taken + count > every:
            message = f"all {every} sessions are open; try again later"
        elif not fits(own, taken, every, count, self._n_callers()):
            message = "this key has its share of sessions; close some or try again later"
        else:
            return
        raise Refusal(429, "busy", message, "$.count", {"Retry-After": "1"})

    def _begun(self, sessions: list[EnvSession], start: History, answer: Done) -> bytes:
        # The seed that the task has, so that what was drawn can be drawn again.
        start = History(start.env, start.params, answer.seed, start.options, rng=answer.rng)
        lease_s = self.settings.session_lease_s
        rest = b',"lease_s":%s,%s' % (_encode(lease_s), answer.body[1:])
        bodies = []
        for session in sessions:
            session.start = start
            session.most = answer.most
            session.answer = b'{"session":"%s","seq":0%s' % (session.id.encode(), rest)
            session.busy = False
            self.renew(session)
            self._leases.add(session)
            bodies.append(session.answer)
        return b'{"sessions":[%s]}' % b",".join(bodies)

    def _move(self, session: EnvSession, given: int | None, move: Move, reply: Reply) -> None:
        seq = session.seq + 1 if given is None else given
        if seq != session.seq + 1:
            if seq == session.seq and _mark(move) == session.last:
                reply(session.answer, True)
            else:
                reply(_out_of_order(session.seq, seq), False)
            return
        if isinstance(move, SessionStep) and session.over:
            message = "the episode is over; reset the session or begin another"
            reply(Refusal(409, "episode_over", message, "$.action"), False)
            return
        if session.history_chars > _MOST_HISTORY:
            message = f"the actions of this session are above {_MOST_HISTORY} characters; reset it"
            reply(Refusal(409, "session_too_long", message, "$.action"), False)
            return
        session.busy = True

        def write(number: int, host: Host) -> messages.Request:
            history = None
            if session.host is not host:
                self._place(session, host)
                history = self._history(session)
            if isinstance(move, SessionStep):
                return messages.StepSession(number, session.number, move.action, history)
            return messages.ResetSession(number, session.number, move.seed, move.options, history)

        self.hosts.send(
            write, lambda answer: self._moved(session, seq, move, answer, reply), session.host
        )

    def _moved(
        self, session: EnvSession, seq: int, move: Move, answer: Answer, reply: Reply
    ) -> None:
        session.busy = False
        if session.gone:
            self._unplace(session)
            reply(Refusal(404, "unknown_session", "the session has ended", "$.session"), False)
            return
        self.renew(session)
        match answer:
            case Done():
                self._record(session, seq, move, answer)
                reply(session.answer, False)
            case RequestFailed():
                self.moves[str(answer.status)] += 1
                self._log_fault(answer, session.env)
                if answer.spoiled or answer.reason == "deadline":
                    self._unplace(session)
                fault = {k: getattr(answer, k) for k in ("status", "reason", "digest")}
                reply(_head(session, seq) + b'"fault":' + _encode(fault) + b"}", False)
            case Invalid():
                reply(_refusal(answer), False)
            case SessionLost():
                _log.error("session lost: %s", answer.detail)
                self.drop(session)
                message = "its host died, and the environment did not lead to the same state again"
                reply(Refusal(409, "session_lost", message, "$.session"), False)
            case _:
                assert_never(answer)
        self._move_on(session)

    def _record(self, session: EnvSession, seq: int, move: Move, answer: Done) -> None:
        """Note a move that was played."""
        self.moves["ok"] += 1
        session.seq, session.last = seq, _mark(move)
        session.answer = _head(session, seq) + answer.body[1:]
        session.over = answer.over
        if isinstance(move, SessionStep):
            action = _kept(move.action, session.most)
            session.actions.append(action)
            session.history_chars += len(action) + 1
        else:
            options = {**session.start.options, **move.options}
            params = session.start.params
            session.start = History(session.env, params, answer.seed, options, rng=answer.rng)
            session.actions = []
            session.history_chars = 0

    def _move_on(self, session: EnvSession) -> None:
        """Begin the next of the requests that wait."""
        while session.waiting and not session.busy:
            self._move(session, *session.waiting.popleft())

    def _history(self, session: EnvSession) -> History:
        key = msgspec.json.decode(session.answer, type=_Keyed).info.state_key
        start = session.start
        actions = tuple(session.actions)
        return History(start.env, start.params, start.seed, start.options, actions, key, start.rng)

    def _place(self, session: EnvSession, host: Host | None) -> None:
        if session.host is not None:
            session.host.load -= 1
            self._by_host[session.host].discard(session)
        session.host = host
        if host is not None:
            host.load += 1
            self._by_host.setdefault(host, set()).add(session)

    def _unplace(self, session: EnvSession) -> None:
        """Mark the session to be made again before its next step."""
        if session.host is not None:
            session.host.queue(messages.DropSessions([session.number]))
            self._place(session, None)

    def _orphan(self, host: Host) -> None:
        for session in self._by_host.pop(host, ()):
            session.host = None

    def _expire(self, session: EnvSession) -> None:
        if session.loan is not None:  # its last step is as old as the lease
            self.recall(session)
            session.expires = self._loop.time() + _BACK_S
            self._leases.add(session)
        elif session.busy:
            self.renew(session)
            self._leases.add(session)
        else:
            self.drop(session)

    def _log_fault(self, fault: RequestFailed, env: str) -> None:
        _log.warning(
            "%s: %s, %s: %s (digest %s)",
            env,
            fault.status,
            fault.reason,
            fault.detail,
            fault.digest,
        )


def _head(session: EnvSession, seq: int) -> bytes:
    """Return how an answer begins."""
    return b'{"session":"%s","seq":%d,' % (session.id.encode(), seq)


def _kept(action: str | bytes, most: int) -> str | bytes:
    """Return an equivalent of an action to keep: cut if overlong, a fixed text if not valid Unicode."""
    if isinstance(action, bytes):
        return b"\xed\xa0\x80"
    return action[: most + 1]


def _mark(move: Move) -> str | bytes:
    """Return a short mark that distinguishes a move from others; every session keeps one."""
    if isinstance(move, Restart):
        return hashlib.sha256(_encode([move.seed, move.options])).digest()
    if isinstance(move.action, bytes) or len(move.action) > _SHORT:
        data = move.action if isinstance(move.action, bytes) else move.action.encode()
        return hashlib.sha256(data).digest()
    return move.action


class _Key(msgspec.Struct):
    state_key: str = ""


class _Keyed(msgspec.Struct):
    info: _Key


def _out_of_order(last: int, seq: int) -> Refusal:
    if seq == last:
        message = f"seq {seq} was used for something else; the next is {last + 1}"
        return Refusal(409, "seq_conflict", message, "$.seq")
    if seq < last:
        message = f"seq {seq} is past; the last is {last}, the next {last + 1}"
        return Refusal(409, "seq_stale", message, "$.seq")
    return Refusal(409, "seq_gap", f"seq {seq} skips some; the next is {last + 1}", "$.seq")


def _refusal(answer: Invalid) -> Refusal:
    return Refusal(422, "invalid_request", answer.message, answer.where or "$")


def _check_sendable(values: list[Any]) -> None:
    try:
        msgspec.msgpack.encode(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise Refusal(422, "invalid_request", f"a value cannot be used: {error}", "$") from None
