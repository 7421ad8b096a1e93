"""The tokens of an answer and a place among them: what every rule of the grammar reads through."""

from __future__ import annotations

from abc import ABC, abstractmethod

from verigym.verifiers.math.lexer import Token
from verigym.verifiers.math.trees import MAX_DEPTH, Node, TooBig, Unreadable


class Cursor(ABC):
    """A place among tokens, bounded in depth. The rules that others build on are given by the parser."""

    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.at = 0
        self.depth = 0
        self.bars = 0
        self.builder = 0
        self.series_seen = 0

    @property
    def here(self) -> Token:
        """The next token."""
        try:
            return self.tokens[self.at]
        except IndexError:
            return self.tokens[-1]

    def peek(self, ahead: int = 1) -> Token:
        """The token `ahead` places on."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def take(self, *texts: str) -> bool:
        """Return True and pass the next token if it is one of `texts`."""
        token = self.here
        if token.text in texts and token.kind not in ("num", "end"):
            self.at += 1
            return True
        return False

    def want(self, text: str) -> None:
        """Passes the token `text`. Raises Unreadable if another stands."""
        if not self.take(text):
            raise Unreadable(f"{text!r} is missing before {self.here.text!r}")

    def deeper(self) -> None:
        """Counts a level of nesting. Raises TooBig past the bound."""
        self.depth += 1
        if self.depth > MAX_DEPTH * 4:
            raise TooBig(f"an answer nests at most {MAX_DEPTH} deep")

    @abstractmethod
    def item(self) -> Node:
        """A relation, perhaps with a modulus."""

    @abstractmethod
    def sum(self) -> Node:
        """A sum of products."""

    @abstractmethod
    def product(self) -> Node:
        """A product of powers."""

    @abstractmethod
    def power(self) -> Node:
        """A power of what stands alone."""

    @abstractmethod
    def exponent(self) -> Node:
        """Parse the exponent after a caret."""

    @abstractmethod
    def atom(self) -> Node:
        """Parse a factor without operators."""

    @abstractmethod
    def beside(self, left: Node) -> Node:
        """The product of `left` and what follows without a sign."""

    @abstractmethod
    def starts_factor(self) -> bool:
        """Return True if a factor follows without a sign."""
