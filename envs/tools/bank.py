"""`tools/bank`: somebody's accounts, cards and standing orders; payments and changes to be made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from typing_extensions import override

from verigym.envs.tools.bank_cases import BankPlace
from verigym.envs.tools.bank_errands import KINDS
from verigym.envs.tools.bank_ledger import BankLedger, BankSize
from verigym.envs.tools.bank_tools import BANK
from verigym.envs.tools.cases.desk_tools import with_desk
from verigym.envs.tools.cases.place import Place
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.people import TODAY
from verigym.envs.tools.stateful import Stateful
from verigym.envs.tools.wishes import Story, changed, wished
from verigym.envs.tools.world import World

_OPENING = """\
You manage the bank accounts of one person. Today is Monday, {today}. All amounts are whole euros. Copy notes \
exactly as they are given."""
LEVELS = {
    1: BankSize(1, 2, 4, 0, 4),
    2: BankSize(1, 3, 5, 0, 8),
    3: BankSize(2, 3, 6, 1, 12),
    4: BankSize(3, 4, 8, 2, 18),
    5: BankSize(4, 5, 10, 3, 27),
    6: BankSize(5, 6, 11, 4, 30),
}


class Bank(Stateful):
    """Payments, transfers, standing orders and cards; what was not asked for must stay as it is."""

    id: ClassVar[str] = "verigym/tools/bank-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    world: ClassVar[World] = BANK
    casework: ClassVar[type[Place] | None] = BankPlace
    desk: ClassVar[World] = with_desk(BANK)
    core: ClassVar[tuple[str, ...]] = (
        *("list_accounts", "list_payments", "list_payees", "add_payee", "pay", "transfer"),
        *("list_standing_orders", "change_standing_order", "cancel_standing_order"),
        *("list_cards", "set_card_limit", "block_card", "request_money"),
    )
    extras: ClassVar[Mapping[int, tuple[int, int]]] = {
        1: (0, 0),
        2: (0, 0),
        3: (1, 1),
        4: (3, 3),
        5: (4, 5),
        6: (6, 8),
        7: (6, 10),
        8: (6, 12),
        9: (6, 14),
        10: (6, 16),
    }

    @override
    def compose(self, draws: Draws, level: int) -> Story:
        """Sums the changes of each balance; its goal comes last."""
        settings = LEVELS[level]
        ledger = BankLedger(draws, settings)
        wishes = wished(draws, KINDS, ledger, settings.wishes)
        wishes[-1].goals += [
            changed("accounts", row[0], balance=int(str(row[2])) + moved)
            for row in ledger.accounts
            if (moved := ledger.moved.get(str(row[1]), 0))
        ]
        return Story(_OPENING.format(today=TODAY), ledger.tables(), draws.shuffled(wishes))
