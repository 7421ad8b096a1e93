"""Applies the laws to an environment and reports each outcome."""

from __future__ import annotations

import contextlib
import io
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from verigym.doors import need_library
from verigym.envs.check.laws import (
    cheap,
    contract,
    cost,
    determinism,
    keys,
    levels,
    purity,
    reward,
    secrecy,
    splits,
)
from verigym.envs.check.subject import Broken, Subject
from verigym.errors import MissingError, RequestError, SandboxError
from verigym.missing import REASON, explain
from verigym.registry import resolve
from verigym.verdict import Status, VerifierFault

Law = Callable[[Subject], dict[str, Any] | None]

LAWS: tuple[Law, ...] = (
    contract.at_least_three_difficulties,
    contract.info_always_has_its_keys,
    contract.legal_actions_are_valid,
    contract.episodes_are_bounded,
    contract.it_renders_as_text,
    contract.gymnasium_s_checker_finds_nothing,
    contract.it_plays_through_gymnasium_s_wrappers,
    splits.seeds_give_different_tasks,
    splits.splits_share_no_content,
    splits.wording_leaves_the_split,
    determinism.a_seed_decides_the_task,
    determinism.another_process_plays_the_same,
    determinism.snapshots_continue_identically,
    determinism.a_failed_step_can_be_repeated,
    determinism.the_oracle_finds_back,
    reward.the_oracle_earns_full_marks,
    reward.tricks_earn_nothing,
    cheap.cheap_answers_earn_no_more_than_guessing,
    reward.chance_earns_next_to_nothing,
    levels.difficulties_are_in_order,
    levels.success_falls_with_the_level,
    levels.operations_are_counted,
    secrecy.the_answer_is_hidden,
    keys.equal_keys_have_equal_futures,
    keys.keys_have_no_history,
    purity.it_is_pure,
    contract.vectors_play_the_same,
    cost.memory_does_not_grow,
)
"""Every law, the cheap and telling ones first."""


@dataclass(frozen=True, kw_only=True)
class LawOutcome:
    """Result of one law. `broken` is None if the law holds; `machine` is True if it could not be
    tried.

    `waived` is the reason if the environment does not claim to keep the law; it was not tried
    then.
    """

    law: str
    about: str
    broken: str | None
    machine: bool = False
    waived: str | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """The outcomes of one environment."""

    env_id: str
    seeds: int
    outcomes: tuple[LawOutcome, ...]

    @property
    def passed(self) -> bool:
        """True if every law holds."""
        return all(outcome.broken is None for outcome in self.outcomes)

    @property
    def figures(self) -> dict[str, Any]:
        """Figures that the laws measured."""
        return {name: value for one in self.outcomes for name, value in one.figures.items()}

    def text(self) -> str:
        """Return the laws that do not hold, one a line."""
        return "\n".join(
            f"{one.law}: {one.broken}" for one in self.outcomes if one.broken is not None
        )


def check(
    env_id: str,
    *,
    seeds: int = 200,
    laws: Iterable[Law] = LAWS,
    progress: Callable[[LawOutcome], None] | None = None,
) -> CheckReport:
    """Apply `laws` to the environment `env_id`. Raises RequestError for an unknown one, and for one whose
    library is not installed."""
    if seeds < 2:
        raise RequestError(f"seeds must be at least 2, got {seeds}")
    full = resolve(env_id)
    need_library(full)
    subject = Subject(full, seeds)
    if missing := _what_is_missing(subject):
        raise MissingError(missing)
    outcomes = []
    for law in laws:
        outcomes.append(apply(law, subject))
        if progress is not None:
            progress(outcomes[-1])
    return CheckReport(env_id=subject.id, seeds=seeds, outcomes=tuple(outcomes))


def _what_is_missing(subject: Subject) -> str:
    """Name what the environment or its verifier lacks here, and what installs it; "" for nothing.

    It would break most laws, and says nothing of the environment.
    """
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            env = subject.make()
            try:
                env.reset(seed=0)
                env.step("" if env.oracle_absent else env.oracle())
            finally:
                env.close()
    except MissingError as error:
        return str(error)
    except ModuleNotFoundError as error:
        return str(explain(error, subject.id) or "")
    except VerifierFault as error:
        return error.verdict.evidence if error.verdict.reason == REASON else ""
    except Exception:  # noqa: BLE001
        return ""  # the laws say more
    return ""


def apply(law: Law, subject: Subject) -> LawOutcome:
    """Apply one law to one environment. Whatever its author's code raises breaks the law."""
    # What an environment prints must not end up in the report.
    with contextlib.redirect_stdout(io.StringIO()):
        return _applied(law, subject)


def _applied(law: Law, subject: Subject) -> LawOutcome:
    about = (law.__doc__ or "").partition("\n")[0]
    if (reason := subject.waived.get(law.__name__)) is not None:
        return LawOutcome(law=law.__name__, about=about, broken=None, waived=reason)
    began = time.perf_counter()
    broken, machine = None, False
    figures: dict[str, Any] = {}
    try:
        figures = law(subject) or {}
    except Broken as error:
        broken = str(error)
    except (SandboxError, VerifierFault) as error:
        verdict = error.verdict if isinstance(error, VerifierFault) else None
        machine = verdict is None or verdict.status is not Status.VERIFIER_ERROR
        broken = (
            f"the machine failed, so this was not proved: {error}"
            if machine
            else f"its verifier must judge whatever is submitted, and does not: {error}"
        )
    except Exception as error:  # noqa: BLE001 - an author's bug is a finding, told with its place
        where = traceback.extract_tb(error.__traceback__)[-1]
        broken = f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
    return LawOutcome(
        law=law.__name__,
        about=about,
        broken=broken,
        machine=machine,
        figures=figures,
        seconds=time.perf_counter() - began,
    )
