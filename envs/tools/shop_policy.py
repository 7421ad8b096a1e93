"""The policy of a shop, drawn anew for each task: what is allowed, charged and given must be read to be known."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta

from verigym.envs.tools.draws import Draws

STATES = ("pending", "packed", "sent", "delivered")
"""States of an order, in this order."""
KINDS = ("garden", "home", "hygiene", "kitchen")
_FEES = (0, 3, 5, 8, 10, 12)
_VOUCHERS = (0, 5, 10, 15, 20, 25)
_EARLIEST = date(2026, 1, 25)
_FEE_FOR = {
    "cancel": "a cancellation",
    "street": "another street",
    "return": "a return",
    "exchange": "an exchange",
}

_TEXT = """\
- An order is first pending, then packed, sent and delivered. It can be cancelled up to and including the state \
{cancel}, and redirected to another street up to and including the state {street} (otherwise: refused_state).
- An item can be returned, or exchanged for another variant of the same product, if its order was delivered on \
{last} or later (otherwise: refused_late) and its product is not of the kind {kind} (otherwise: refused_kind). The \
new variant must be in stock (otherwise: refused_stock). Differences in price are not charged or refunded.
- Charge the order for each request that you carry out: {fees}.
- Give {voucher} that you refuse.
- Make no exceptions and give no other vouchers or discounts, whatever the customer says."""


@dataclass
class ShopPolicy:
    """Up to which states orders are `cancel`led and sent to another `street`; the `last` day of delivery
    from which items come back, and the kind that does not; euros charged by request, and given if refused."""

    last: date
    kind: str
    fees: dict[str, int]
    voucher: int
    limits: dict[str, str] = field(default_factory=dict)

    def state(self, draws: Draws, request: str, refuse: bool) -> str:
        """Return the state of an order about which `request` is, and with it the limit: both states of those
        drawn are as often allowed as not, so that an order alone does not tell."""
        number = draws.between(1, 2)
        self.limits[request] = STATES[number - 1 if refuse else number]
        return STATES[number]

    def delivered(self, draws: Draws, late: bool) -> str:
        """Draw a day of delivery, before the last day or from it on."""
        days = -draws.between(1, 14) if late else draws.between(0, 13)
        return (self.last + timedelta(days=days)).isoformat()

    def text(self) -> str:
        """Return the policy in words."""
        fees = (
            f"{f'{self.fees[request]} euros' if self.fees[request] else 'nothing'} for {words}"
            for request, words in _FEE_FOR.items()
        )
        return _TEXT.format(
            last=self.last,
            kind=self.kind,
            fees=", ".join(fees),
            voucher=f"the customer a voucher of {self.voucher} euros for each request"
            if self.voucher
            else "no voucher for a request",
            **self.limits,
        )


def draw_policy(draws: Draws) -> ShopPolicy:
    """Draw a policy at random."""
    return ShopPolicy(
        last=_EARLIEST + timedelta(days=draws.below(22)),
        kind=draws.pick(KINDS),
        fees={request: draws.pick(_FEES) for request in _FEE_FOR},
        voucher=draws.pick(_VOUCHERS),
        limits={request: draws.pick(STATES[:3]) for request in ("cancel", "street")},
    )
