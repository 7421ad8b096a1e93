"""The parts that repositories of `code/repo` are made of: steps that records go through, and reports.

A record is `{"name": text, "group": text, "amount": number, "day": number}`. Upper-case words of a source
stand for numbers that are drawn for each repository. Each mistake is one replacement in the source. No
part changes the records that it is given.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from verigym.envs.code.program_files import program


@dataclass(frozen=True, kw_only=True, eq=False)
class RepoStage:
    """One file. `says` is its line in the README, `about` what an issue calls it."""

    name: str
    about: str
    says: str
    mistakes: tuple[tuple[str, str], ...]
    draws: dict[str, tuple[int, int]] = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The part's function, from programs/stages."""
        return program(f"stages/{self.name}.py")


HELPERS: dict[str, str] = {
    name: program(f"helpers/{name}.py") for name in ("calendar_weeks", "texts")
}

STEPS: tuple[RepoStage, ...] = (
    RepoStage(
        name="recent",
        about="old records",
        says="drops the records of days before day SINCE",
        draws={"SINCE": (5, 12)},
        mistakes=(('r["day"] >= SINCE', 'r["day"] > SINCE'), ('r["day"] >= SINCE', "True")),
    ),
    RepoStage(
        name="caps",
        about="large amounts",
        says="brings amounts above CAP down to CAP",
        draws={"CAP": (45, 70)},
        mistakes=(("amount = CAP", "amount = CAP - 1"), ("amount > CAP", "amount < CAP")),
    ),
    RepoStage(
        name="merged",
        about="several records of one name and day",
        says="makes one record of all those with the same name and day: the amounts added, the group that "
        "of the first, at the place of the first",
        mistakes=(
            ('key = (r["name"], r["day"])', 'key = r["name"]'),
            ('known[key]["amount"] += r["amount"]', 'known[key]["amount"] = r["amount"]'),
            ('(r["name"], r["day"])', '(r["group"], r["day"])'),
        ),
    ),
    RepoStage(
        name="fees",
        about="fees",
        says="takes a fee of FEE percent, rounded down, off each amount of FREE or more",
        draws={"FEE": (6, 19), "FREE": (15, 30)},
        mistakes=(
            ("amount * FEE // 100", "(amount * FEE + 99) // 100"),
            ("if amount >= FREE:", "if amount <= FREE:"),
            ("amount * FEE // 100", "(amount - FREE) * FEE // 100"),
        ),
    ),
    RepoStage(
        name="ordered",
        about="the order of records",
        says="puts the records in order: the largest amounts first, of equal amounts the earliest day, then by name",
        mistakes=(
            ('-r["amount"], r["day"]', 'r["amount"], r["day"]'),
            ('(-r["amount"], r["day"], r["name"])', '(r["day"], -r["amount"], r["name"])'),
        ),
    ),
    RepoStage(
        name="firsts",
        about="how many records of a group are kept",
        says="keeps the first KEEP records of each group, in their order",
        draws={"KEEP": (2, 3)},
        mistakes=(
            ("count < KEEP", "count <= KEEP"),
            ("count < KEEP", "count < KEEP - 1"),
            ("if count < KEEP", "if len(out) < KEEP"),
        ),
    ),
    RepoStage(
        name="running",
        about="running totals",
        says="replaces each amount by the sum of the amounts of its group up to and with this record",
        mistakes=(
            ('totals.get(group, 0) + r["amount"]', 'r["amount"]'),
            ('group = r["group"]', 'group = r["name"]'),
            ("totals.get(group, 0) +", "sum(totals.values()) +"),
        ),
    ),
    RepoStage(
        name="spaced",
        about="records that follow each other closely",
        says="goes through the records and drops one whose day is fewer than PAUSE days after, or before, that "
        "of the last record of the same name that was kept",
        draws={"PAUSE": (3, 6)},
        mistakes=(
            (
                '< PAUSE:\n            continue\n        last[name] = r["day"]\n',
                '< PAUSE:\n            last[name] = r["day"]\n            continue\n        last[name] = r["day"]\n',
            ),
            ("< PAUSE", "<= PAUSE"),
            ('name = r["name"]', 'name = r["group"]'),
        ),
    ),
    RepoStage(
        name="tidied",
        about="names",
        says="writes names in one form: small letters, no blanks around them, a dash for each blank within",
        needs=("texts",),
        mistakes=(
            ('clean(r["name"])', 'clean(r["name"])[:-1]'),
            ('clean(r["name"])', 'r["name"].lower()'),
        ),
    ),
    RepoStage(
        name="weekly",
        about="weeks",
        says="keeps of each name and week only the record with the largest amount, the first of equal ones, at its "
        "own place; days 0 to 6 are week 0",
        needs=("calendar_weeks",),
        mistakes=(
            ('r["amount"] > records', 'r["amount"] < records'),
            ('week_of(r["day"])', 'week_of(r["day"] + 1)'),
            ('(r["name"], week_of(r["day"]))', 'week_of(r["day"])'),
        ),
    ),
    RepoStage(
        name="bonuses",
        about="bonuses",
        says="counts the records of each name from 1 in their order, and adds BONUS to the amount of those whose number is a multiple of EVERY",
        draws={"BONUS": (101, 140), "EVERY": (2, 3)},
        mistakes=(
            ("% EVERY == 0", "% EVERY == 1"),
            ('seen.get(r["name"], 0) + 1', 'seen.get(r["name"], 1) + 1'),
            ("amount += BONUS", "amount = BONUS"),
        ),
    ),
)

FEATURES: tuple[RepoStage, ...] = (
    RepoStage(
        name="shared",
        about="shares",
        says="shares POOL among the records of each week (days 0 to 6 are week 0) in proportion to their amounts: each amount "
        "becomes its share, rounded down, and what is then left of POOL goes, 1 each, to the records of the week whose rounding "
        "cut off most, the earlier record first where it cut off the same; a week whose amounts are all 0 stays as it is",
        draws={"POOL": (80, 140)},
        needs=("calendar_weeks",),
        mistakes=(("if total == 0:", "if total == POOL:"), ("cut[:left]", "cut[-left:]")),
    ),
    RepoStage(
        name="settled",
        about="payments",
        says="takes records of group x as bills and those of group y as payments: each payment, in the order of the records, pays "
        "the bills of the same name that stand before it, that of the earliest day first, of equal days the one that stands first, each "
        "as far as both reach, and both amounts go down by what is paid; records whose amount is then 0 are dropped",
        mistakes=(
            ("for i in range(at)", "for i in range(len(records))"),
            ("sorted(bills)", "bills"),
        ),
    ),
    RepoStage(
        name="bracketed",
        about="brackets",
        says="adds up the amounts of each name and week (days 0 to 6 are week 0) in the order of the records; of each amount it "
        "leaves whole what lies in the sum up to LOW, RATE percent, rounded down, of what lies above LOW up to HIGH, and nothing of "
        "what lies above HIGH, where each amount begins in the sum where the one before ended",
        draws={"LOW": (20, 40), "HIGH": (60, 90), "RATE": (35, 75)},
        needs=("calendar_weeks",),
        mistakes=(("before[key] = last", 'before[key] = r["amount"]'),),
    ),
    RepoStage(
        name="smoothed",
        about="medians",
        says="replaces each amount by the median of the amounts that this record and the SPAN - 1 records of its group nearest before it "
        "came with (fewer where there are fewer); of an even number of amounts, the smaller of the two in the middle",
        draws={"SPAN": (3, 5)},
        mistakes=(("(len(ordered) - 1) // 2", "len(ordered) // 2"),),
    ),
)
"""Parts with more rules, which README.md describes and no file holds: from level 8 on they are to be written."""

REPORTS: tuple[RepoStage, ...] = (
    RepoStage(
        name="totals",
        about="the totals",
        says="gives a list of [group, sum of its amounts], by group",
        mistakes=(
            ('sums.get(r["group"], 0) + r["amount"]', 'max(sums.get(r["group"], 0), r["amount"])'),
            ("sorted(sums)", "sorted(sums, reverse=True)"),
        ),
    ),
    RepoStage(
        name="listing",
        about="the listing",
        says="gives a list of [name, day, amount] of all records in their order, and last of all "
        '["total", number of records, sum of all amounts]',
        mistakes=(
            ("len(records), sum", "len(rows) + 1, sum"),
            ("sum(r", "max(r"),
            ('["total", len(records)', '["total", len(records) - 1'),
        ),
    ),
    RepoStage(
        name="by_week",
        about="the weeks of the report",
        says="gives a list of [week, number of records, largest amount], by week; days 0 to 6 are week 0",
        needs=("calendar_weeks",),
        mistakes=(
            ("max(weeks[week])", "weeks[week][-1]"),
            ("len(weeks[week])", "len(weeks)"),
            ('week_of(r["day"])', 'week_of(r["day"] - 1)'),
        ),
    ),
    RepoStage(
        name="leaders",
        about="the leaders",
        says="gives a list of [name, sum of its amounts] of the SIZE names with the largest sums, the largest "
        "first, equal ones by name",
        draws={"SIZE": (2, 3)},
        mistakes=(
            ("ranked[:SIZE]", "ranked[:SIZE + 1]"),
            ("(-sums[name], name)", "(sums[name], name)"),
            ('sums.get(r["name"], 0) + r["amount"]', 'r["amount"]'),
        ),
    ),
)
