"""A running episode: its data, and the calls that worker threads make on its environment."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from verigym import __version__
from verigym.agents.chat import Conversation, Encoding, Prompt
from verigym.agents.envpool import EnvPool
from verigym.agents.fork import Fork, copied
from verigym.agents.native_tools import published_by
from verigym.agents.plan import Plan
from verigym.agents.policy import Completion, Policy, Request
from verigym.canonical import to_json
from verigym.env import Env, Move
from verigym.episode import Episode, Turn
from verigym.errors import PolicyError, RequestError
from verigym.moves import can_propose
from verigym.registry import described_files
from verigym.verdict import Verdict


@dataclass(eq=False, kw_only=True)
class Trouble:
    """A call that failed with an error that may be temporary."""

    since: float
    tries: int = 0


@dataclass(eq=False, kw_only=True)
class LiveEpisode:
    """A running episode. `busy` while a worker thread has the environment."""

    plan: Plan
    index: int
    cohort: Cohort
    episode: Episode
    env: Env[Any] | None = None
    talk: Conversation = field(default_factory=lambda: Conversation(task_prompt=""))
    shown: str = ""
    """Last observation, in the form in which the episode records it."""
    state_key: str = ""
    busy: bool = False
    trouble: Trouble | None = None

    @property
    def resting_env(self) -> Env[Any]:
        """The environment. Raises RuntimeError before the episode has started."""
        if self.env is None:
            raise RuntimeError(f"episode {self.plan.id} has no environment yet")
        return self.env


@dataclass(eq=False, kw_only=True)
class Cohort:
    """Plans that share batches: planned episodes, running ones, and those that wait for generation."""

    todo: deque[LiveEpisode] = field(default_factory=deque)
    live: set[LiveEpisode] = field(default_factory=set)
    ready: list[LiveEpisode] = field(default_factory=list)


@dataclass(eq=False, kw_only=True)
class GenerationBatch:
    """Episodes that generate in one batch, and again if the policy fails."""

    members: list[LiveEpisode]
    trouble: Trouble | None = None


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `start`."""

    env: Env[Any]
    shown: str
    view: str
    info: dict[str, Any]
    verifier: str
    max_turns: int | None


class Stepped(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a step; `step_s` is its wall time, `verify_s` the verifier's part."""

    shown: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]
    step_s: float
    verify_s: float


class Proposed(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `step` for a move that has to be judged; `step_s` is the wall time so far."""

    move: Move[Any]
    step_s: float


def new_live(plan: Plan, index: int, cohort: Cohort, policy: Policy) -> LiveEpisode:
    """Return an episode that has not started."""
    episode = Episode(
        id=plan.id,
        env_id=plan.env if isinstance(plan.env, str) else "",
        task_id="",
        seed=plan.seed,
        group_id=plan.group_id or plan.id,
        difficulty="" if plan.difficulty is None else str(plan.difficulty),
        split=plan.split or "",
        policy=policy.name,
        versions={
            "verigym": __version__,
            "policy": policy.name,
            "policy_version": str(getattr(policy, "version", 0)),
        },
        env_kwargs=_recorded(plan.env_kwargs),
    )
    return LiveEpisode(plan=plan, index=index, cohort=cohort, episode=episode)


def start_over(live: LiveEpisode, policy: Policy) -> None:
    """Forget what has been played of the episode, but not how often it was tried."""
    retries = live.episode.retries
    live.episode = new_live(live.plan, live.index, live.cohort, policy).episode
    live.episode.retries = retries + 1
    live.env = None
    live.shown = live.state_key = ""
    live.busy = False


def _recorded(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the arguments that decide the world; None if one of them is not plain data.

    The verifier does not: equal ids, versions and parameters give equal verdicts wherever they run.
    """
    chosen = {
        name: value for name, value in arguments.items() if name != "verifier" and value is not None
    }
    try:
        plain: dict[str, Any] = msgspec.json.decode(to_json(chosen))
    except RequestError:
        return None
    return plain


def start(plan: Plan, pool: EnvPool) -> Started:
    """Reset an environment for `plan`, or restore its fork. On an exception the instance is closed."""
    env = pool.acquire(plan)
    try:
        if plan.fork is not None:
            env.restore(plan.fork.snapshot)
            info = {"state_key": plan.fork.state_key}
            return Started(
                env=env,
                shown=plan.fork.shown,
                view="",
                info=info,
                verifier=env.verifier.name,
                max_turns=None,
            )
        options = {
            name: value
            for name, value in (("difficulty", plan.difficulty), ("split", plan.split))
            if value is not None
        }
        shown, info = env.reset(seed=plan.seed, options=options)
        return Started(
            env=env,
            shown=shown,
            view=env.view(),
            info=info,
            verifier=env.verifier.name,
            max_turns=env.max_turns or env.turns_allowed(env.task),
        )
    except BaseException:
        env.close()
        raise


def begin(live: LiveEpisode, started: Started) -> None:
    """Record the result of `start`."""
    env = started.env
    live.env = env
    live.shown = started.shown
    live.state_key = started.info["state_key"]
    if live.plan.fork is not None:
        live.talk = live.plan.fork.conversation()
    else:
        live.talk = Conversation(
            task_prompt=env.task.prompt,
            observations=[started.view],
            legal_actions=started.info["legal_actions"],
            max_turns=started.max_turns,
            tools=published_by(env),
            hint=live.plan.hint,
        )
    episode = live.episode
    episode.env_id = env.id
    episode.task_id = env.task.id
    episode.difficulty = env.task.difficulty
    episode.split = env.task.split
    episode.tags = list(env.task.tags)
    episode.versions.update(env=env.id, verifier=started.verifier)
    if (file := described_files.get(env.id)) is not None:
        episode.versions["env_file"] = file


def fork(live: LiveEpisode) -> Fork:
    """Return the point before the episode's next turn. Its environment must be idle."""
    return Fork(
        turn=len(live.talk.actions),
        snapshot=live.resting_env.snapshot(),
        talk=copied(live.talk),
        shown=live.shown,
        state_key=live.state_key,
    )


def joins_batches(env: Env[Any]) -> bool:
    """Return True if the environment's moves are judged together with those of others."""
    return env.verifier.prefers_batches and can_propose(env)


def step(env: Env[Any], action: str) -> Stepped | Proposed:
    """Make one step and time it; only propose the move if it is judged together with others."""
    began = time.perf_counter()
    if not joins_batches(env):
        made = env.step(action)
        return _stepped(made, time.perf_counter() - began, env.verify_s)
    move = env.propose(action)
    if move.submission is None:
        made = env.commit(move)
        return _stepped(made, time.perf_counter() - began, 0.0)
    return Proposed(move=move, step_s=time.perf_counter() - began)


def commit(
    env: Env[Any], proposed: Proposed, found: Verdict | Exception, verify_s: float
) -> Stepped:
    """Finish a proposed step with its verdict. Raises `found` if it is an error."""
    if isinstance(found, Exception):
        raise found
    began = time.perf_counter()
    made = env.commit(proposed.move, found)
    return _stepped(made, proposed.step_s + verify_s + time.perf_counter() - began, verify_s)


def _stepped(
    made: tuple[str, float, bool, bool, dict[str, Any]], step_s: float, verify_s: float
) -> Stepped:
    shown, reward, terminated, truncated, info = made
    return Stepped(
        shown=shown,
        reward=float(reward),
        terminated=terminated,
        truncated=truncated,
        info=info,
        step_s=step_s,
        verify_s=verify_s,
    )


def advance(live: LiveEpisode, stepped: Stepped) -> Turn:
    """Record the result of `step`, and return the finished turn."""
    talk = live.talk
    answer = talk.completions[-1]
    verdict = stepped.info["verdict"]
    turn = Turn(
        observation=live.shown,
        response=answer.text,
        action=talk.actions[-1],
        reward=stepped.reward,
        state_key=live.state_key,
        valid_action=bool(stepped.info["valid_action"]),
        prompt_ids=answer.prompt_ids,
        response_ids=answer.response_ids,
        logprobs=answer.logprobs,
        mask=answer.mask,
        prompt_tokens=len(answer.prompt_ids) or answer.prompt_tokens,
        response_tokens=len(answer.response_ids) or answer.response_tokens,
        policy_version=answer.policy_version,
        verdict=verdict if isinstance(verdict, Verdict) else None,
        generate_s=answer.generate_s,
        step_s=stepped.step_s,
        verify_s=stepped.verify_s,
    )
    live.episode.turns.append(turn)
    live.shown = live.episode.final_observation = stepped.shown
    live.state_key = stepped.info["state_key"]
    talk.observations.append(stepped.shown)
    talk.legal_actions = stepped.info["legal_actions"]
    return turn


def answered(
    live: LiveEpisode, prompt: Prompt, answer: Completion, parse: Callable[[str], str] | None
) -> None:
    """Record the policy's answer and its action, as read by `parse` or by the environment."""
    action = parse(answer.text) if parse else live.resting_env.action_in(answer.text)
    live.talk.prompts.append(prompt)
    live.talk.completions.append(answer)
    live.talk.actions.append(action)


class BatchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Prompts of a batch, and the requests for those that leave the policy room."""

    prompts: list[Prompt]
    fits: list[bool]
    requests: list[Request]

    def answers(
        self, completions: list[Completion], policy: Policy
    ) -> list[tuple[Prompt, Completion | None]]:
        """Return each prompt with its completion; None if there was no request for it."""
        if len(completions) != len(self.requests):
            raise PolicyError(
                f"policy {policy.name} gave {len(completions)} completions for "
                f"{len(self.requests)} requests"
            )
        left = iter(completions)
        return [
            (prompt, _storable(next(left)) if fit else None)
            for prompt, fit in zip(self.prompts, self.fits, strict=True)
        ]


def generate(
    members: list[LiveEpisode], policy: Policy, encoding: Encoding
) -> list[tuple[Prompt, Completion | None]]:
    """Return a prompt and a completion for each member; None if the prompt leaves the policy no room.

    Raises RequestError if that happens at the first turn, since no episode could then be played.
    """
    asked = _ask(members, policy, encoding)
    return asked.answers(policy.complete(asked.requests) if asked.requests else [], policy)


def begin_generating(
    members: list[LiveEpisode],
    policy: Policy,
    encoding: Encoding,
    begin: Callable[..., Callable[[], None]],
    done: Callable[[Any], None],
) -> Callable[[], None]:
    """Begin `generate` through the policy's `begin`; `done` gets the result or the error."""
    asked = _ask(members, policy, encoding)
    if not asked.requests:
        done(asked.answers([], policy))
        return lambda: None

    def finish(found: list[Completion] | BaseException) -> None:
        try:
            done(found if isinstance(found, BaseException) else asked.answers(found, policy))
        except Exception as error:  # noqa: BLE001
            # Nobody else hears of an error in the policy's thread.
            done(error)

    return begin(asked.requests, finish)


def _ask(members: list[LiveEpisode], policy: Policy, encoding: Encoding) -> BatchRequest:
    limit = int(getattr(policy, "max_context", 2**31))
    prompts, fits, requests = [], [], []
    for live in members:
        prompt = encoding.prompt(live.talk, policy)
        prompts.append(prompt)
        fits.append(prompt.ids is None or len(prompt.ids) < limit)
        if fits[-1]:
            requests.append(
                Request(
                    messages=prompt.messages,
                    prompt_ids=prompt.ids,
                    env=live.env,
                    key=(*live.plan.key, len(live.talk.actions)),
                    grows=prompt.grows,
                )
            )
        elif not live.talk.actions:
            raise RequestError(
                f"the first prompt of {live.episode.task_id} has {len(prompt.ids or ())} tokens and "
                f"policy {policy.name} reads at most {limit - 1}; take an easier task, a shorter "
                "encoding or another model"
            )
    return BatchRequest(prompts=prompts, fits=fits, requests=requests)


def _storable(answer: Completion) -> Completion:
    """Return `answer` with lone surrogates replaced by U+FFFD.

    JSON from a model server may hold them; verifiers cannot read them, records cannot store them, and
    a policy must not be able to turn its answer into a verifier's fault.
    """
    try:
        answer.text.encode()
    except UnicodeEncodeError:
        text = answer.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return msgspec.structs.replace(answer, text=text)
    return answer
