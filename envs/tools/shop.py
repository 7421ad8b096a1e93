"""`tools/shop`: a customer on the line, a policy of its own to keep to, and a shop's records to act on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from typing_extensions import override

from verigym.envs.tools.cases.desk_tools import with_desk
from verigym.envs.tools.cases.place import Place
from verigym.envs.tools.draws import Draws
from verigym.envs.tools.people import TODAY
from verigym.envs.tools.shop_cases import BOOKS, ShopPlace
from verigym.envs.tools.shop_floor import Floor, ShopSize
from verigym.envs.tools.shop_requests import KINDS
from verigym.envs.tools.shop_tools import SHOP
from verigym.envs.tools.stateful import Stateful
from verigym.envs.tools.wishes import Story
from verigym.envs.tools.world import World

_OPENING = """\
You work for a shop and talk to a customer with the tool say. Today is {today}. Follow the policy of the shop:
- Ask for the customer's e-mail address and find the customer by it. Act only on this customer's own orders \
(otherwise refuse: refused_other_person).
{policy}
- If the policy allows a request, do it; if not, refuse it. Either way, log its outcome once for this customer, \
with done or the reason in parentheses, and tell the customer. Then ask if there is anything else. When there is \
nothing else, the work is done."""
_ASKED = 'The customer says: "{opening}"'
LEVELS = {
    1: ShopSize(1, 3, 1, 0, 5),
    2: ShopSize(1, 4, 4, 1, 5),
    3: ShopSize(2, 5, 6, 1, 5),
    4: ShopSize(2, 6, 8, 1, 5),
    5: ShopSize(3, 8, 12, 2, 5),
    6: ShopSize(4, 10, 16, 3, 5),
}


class Shop(Stateful):
    """Serve a scripted customer who answers questions and presses for exceptions; judged by the records.

    Each task draws its policy. Each request, done or refused, must be logged with its outcome, so doing
    nothing is never paid.
    """

    id: ClassVar[str] = "verigym/tools/shop-v0"
    difficulties: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    world: ClassVar[World] = SHOP
    casework: ClassVar[type[Place] | None] = ShopPlace
    desk: ClassVar[World] = with_desk(SHOP, BOOKS)
    core: ClassVar[tuple[str, ...]] = (
        *("say", "find_customer", "list_orders", "read_order", "find_products", "cancel_order"),
        *("change_street", "return_item", "exchange_item", "charge_order", "give_voucher"),
        "log_outcome",
    )
    extras: ClassVar[Mapping[int, tuple[int, int]]] = {
        1: (0, 0),
        2: (0, 0),
        3: (2, 1),
        4: (3, 2),
        5: (4, 3),
        6: (4, 5),
        7: (4, 7),
        8: (4, 9),
        9: (4, 11),
        10: (4, 13),
    }

    @override
    def compose(self, draws: Draws, level: int) -> Story:
        settings = LEVELS[level]
        floor = Floor(draws, settings)
        kinds = draws.some(KINDS[:1] if level == 1 else KINDS, settings.requests)
        requests = [kind(floor, draws.below(10) < settings.refused) for kind in kinds]
        opening = _OPENING.format(today=TODAY, policy=floor.policy.text())
        wishes = [floor.log(request) for request in requests]
        # As many replies whatever is right: what a refusal saves would betray it.
        spare = 6 + 27 * settings.requests - 2 * sum(step.work for w in wishes for step in w.plan)
        return Story(
            opening,
            floor.tables(floor.script(requests)),
            wishes,
            asked=_ASKED.format(opening=requests[0].opening),
            hidden=("talk",),
            spare=spare,
        )
