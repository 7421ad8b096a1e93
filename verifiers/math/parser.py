"""Reads a cleaned answer as a syntax tree: a parser of our own, bounded in tokens and depth.

    item    = relation ("\\pmod" sum)?
    relation= ratio (("=" | "<" | "<=" | ">" | ">=" | "!=" | "\\approx" | "\\equiv" | "\\in") ratio)*
    ratio   = sets (":" sets)*
    sets    = sum (("\\cup" | "\\cap" | "\\setminus") sum)*
    sum     = sign? product (("+" | "-" | "\\pm" | "\\mp") product)*
    product = power (("*" | "/" | nothing) power)*
    power   = atom postfix* ("^" power)?

Nothing is evaluated here. What cannot be read raises Unreadable.
"""

from __future__ import annotations

import re
from fractions import Fraction

from verigym.verifiers.math.brackets import braces, bracket
from verigym.verifiers.math.commands import command, word
from verigym.verifiers.math.cursor import Cursor
from verigym.verifiers.math.grammar import CONSTANTS, FUNCTIONS, GREEK, RELATIONS, STARTS
from verigym.verifiers.math.lexer import Token, tokens
from verigym.verifiers.math.numerals import based, in_base, numeral, proper
from verigym.verifiers.math.patterns import lazy_pattern
from verigym.verifiers.math.quantities import quantity
from verigym.verifiers.math.ranges import total
from verigym.verifiers.math.trees import MAX_HEIGHT, Node, TooBig, Unreadable, num

_SIGNS = lazy_pattern(r"[\\(\[{|_^=]|\.\.|\d[eE]|[-+] ?[-+]")
_NO_NAME = lazy_pattern(
    rf"(?<![A-Za-z\d])(?!{'|'.join(sorted({*FUNCTIONS, *CONSTANTS, *GREEK, 'matrix', 'union'}))})[A-Za-z]{{4}}"
)
_MOST_PROSE = 400
_PLAIN = lazy_pattern(r"(-?)(\d{1,15}(?:\.\d{1,12})?)", re.ASCII)


def plain_number(text: str) -> Node | None:
    """The tree of a plain number such as 12, -3 or 2.50, which most answers are; None for other text."""
    match = _PLAIN.fullmatch(text)
    if match is None:
        return None
    node = numeral(Token("num", match[2], False, Fraction(match[2])))
    return Node("neg", (node,)) if match[1] else node


def parse(text: str, *, thousands: bool = True) -> Node:
    """Return the tree of one cleaned item. Raises Unreadable or TooBig."""
    plain = plain_number(text)
    if plain is not None:
        return plain
    whole = in_base(text)
    if whole is not None:
        return whole
    if is_prose(text):
        raise Unreadable("words stand in it that are no mathematics")
    named = quantity(text)
    reader = _Parser(tokens(text if named is None else named[1], thousands=thousands))
    node = reader.item()
    if reader.here.kind != "end":
        raise Unreadable(f"{reader.here.text!r} stands where the answer should end")
    if node.height() > MAX_HEIGHT:
        raise TooBig(f"a tree is at most {MAX_HEIGHT} high")
    if named is None:
        return node
    if node.kind == "rel" and set(node.value) <= {"=", "~"}:
        return Node("rel", (named[0], *node.args), ("=", *node.value))
    return Node("rel", (named[0], node), ("=",))


def is_prose(text: str) -> bool:
    """Return True if a text has a word that no rule of the grammar reads, and no sign that makes words mean another thing."""
    return (
        _NO_NAME.search(text) is not None
        and len(text) <= _MOST_PROSE
        and _SIGNS.search(text) is None
    )


class _Parser(Cursor):
    def item(self) -> Node:
        self.deeper()
        node = self.relation()
        if self.take("\\over"):
            node = Node("div", (node, self.relation()))
        if self.take("\\pmod"):
            braced = self.take("{") or self.take("(")
            node = Node("mod", (node, self.sum()))
            if braced and not self.take("}"):
                self.want(")")
        self.depth -= 1
        return node

    def relation(self) -> Node:
        parts = [self.ratio()]
        signs: list[str] = []
        while self.here.kind in ("op", "cmd") and self.here.text in RELATIONS:
            signs.append(RELATIONS[self.here.text])
            self.at += 1
            parts.append(self.ratio())
        return Node("rel", tuple(parts), tuple(signs)) if signs else parts[0]

    def ratio(self) -> Node:
        parts = [self.sets()]
        while self.here.text == ":" and self.here.kind == "op" and not self.builder:
            self.at += 1
            parts.append(self.sets())
        return Node("ratio", tuple(parts)) if len(parts) > 1 else parts[0]

    def sets(self) -> Node:
        node = self.sum()
        while True:
            if self.take("\\cup") or self._word("U") or self._word("union"):
                node = Node("union", (node, self.sum()))
            elif self.take("\\cap"):
                node = Node("inter", (node, self.sum()))
            elif self.take("\\setminus"):
                node = Node("minus", (node, self.sum()))
            else:
                return node

    def _word(self, text: str) -> bool:
        if self.here.kind == "word" and self.here.text == text:
            self.at += 1
            return True
        return False

    def sum(self) -> Node:
        self.deeper()
        terms = [self.signed()]
        while True:
            if self.take("+"):
                terms.append(self.signed())
            elif self.here.text == "-" and self.here.kind == "op":
                self.at += 1
                terms.append(Node("neg", (self.signed(),)))
            elif self.take("\\pm"):
                terms.append(Node("pm", (self.product(),)))
            elif self.take("\\mp"):
                terms.append(Node("mp", (self.product(),)))
            else:
                break
        self.depth -= 1
        last = terms[-1]
        if len(terms) == 2 and last.kind == "neg" and last.args[0].kind == "set":
            return Node("minus", (terms[0], last.args[0]))
        if len(terms) > 1 and Node("dots") in terms:
            return total(terms) or Node("add", tuple(terms))
        return Node("add", tuple(terms)) if len(terms) > 1 else terms[0]

    def signed(self) -> Node:
        if self.take("-"):
            self.deeper()
            node = Node("neg", (self.signed(),))
            self.depth -= 1
            return node
        if self.take("+"):
            if self.take("/"):
                self.want("-")
                return Node("pm", (self.product(),))
            self.deeper()
            node = self.signed()
            self.depth -= 1
            return node
        if self.take("\\pm"):
            return Node("pm", (self.product(),))
        if self.take("\\mp"):
            return Node("mp", (self.product(),))
        return self.product()

    def product(self) -> Node:
        node = self.power()
        while True:
            if self.take("*"):
                node = Node("mul", (node, self.unary()))
            elif self.take("/"):
                node = Node("div", (node, self.unary()))
            elif self.starts_factor():
                node = self.beside(node)
            else:
                return node

    def unary(self) -> Node:
        if self.here.text in ("-", "+") and self.here.kind == "op":
            negative = self.here.text == "-"
            self.at += 1
            self.deeper()
            node = self.unary()
            self.depth -= 1
            return Node("neg", (node,)) if negative else node
        return self.power()

    def beside(self, left: Node) -> Node:
        """A product without a sign, or a mixed number."""
        previous, start = self.tokens[self.at - 1], self.here
        right = self.power()
        whole = previous.kind == "num" and previous.value is not None and previous.text.isdecimal()
        if whole and left.kind == "num" and right.kind == "percent" and proper(right.args[0]):
            return Node("percent", (Node("add", (left, right.args[0]), "mixed"),))
        if whole and left.kind == "num":
            if start.text == "\\frac" and proper(right):
                return Node("add", (left, right), "mixed")
            if start.kind == "num":
                if start.spaced and start.text.isdecimal() and self.take("/"):
                    below = self.power()
                    fraction = Node("div", (right, below))
                    if proper(fraction):
                        return Node("add", (left, fraction), "mixed")
                raise Unreadable("two numbers stand side by side")
        if right.kind in ("num", "dec") and start.kind == "num" and previous.kind == "num":
            raise Unreadable("two numbers stand side by side")
        return Node("mul", (left, right))

    def starts_factor(self) -> bool:
        token = self.here
        if token.kind == "num":
            return True
        if token.kind == "word":
            return token.text not in ("U", "union", "and", "or")
        if token.kind == "cmd":
            return token.text in STARTS or token.text[1:] in FUNCTIONS or token.text[1:] in GREEK
        if token.text == "|":
            return self.bars == 0 and not self.builder
        if token.text == "[":
            after = self.peek()
            return after.kind != "end" and after.text not in (
                "\\cup",
                "U",
                ",",
                ")",
                "\\cap",
                "\\setminus",
            )
        return token.text in ("(", "{") and token.kind == "op"

    def power(self) -> Node:
        self.deeper()
        node = self.postfix(self.atom())
        while self.here.text == "^" and self.here.kind == "op":
            self.at += 1
            if self.take("\\circ"):
                node = Node(
                    "mul", (node, Node("div", (Node("const", value="pi"), num(180)))), "degree"
                )
                continue
            node = Node("pow", (node, self.exponent()))
            node = self.postfix(node)
        self.depth -= 1
        return node

    def exponent(self) -> Node:
        if self.here.text == "{" and self.peek().text == "\\circ" and self.peek(2).text == "}":
            raise Unreadable("a degree sign in braces")
        if self.take("-"):
            return Node("neg", (self.exponent(),))
        if self.take("+"):
            return self.exponent()
        base = self.atom()
        if self.here.text == "^":
            self.at += 1
            self.deeper()
            base = Node("pow", (base, self.exponent()))
            self.depth -= 1
        return base

    def postfix(self, node: Node) -> Node:
        while True:
            if self.take("!"):
                node = Node("fact", (node,))
            elif self.take("!!"):
                node = Node("fact", (node,), 2)
            elif self.here.text == "%":
                self.at += 1
                node = Node("percent", (node,))
            elif self.here.text == "_" and node.kind in ("num", "dec", "tuple"):
                node = based(self)
            else:
                return node

    def atom(self) -> Node:
        token = self.here
        if token.kind == "end":
            raise Unreadable("the answer breaks off")
        self.at += 1
        if token.kind == "num" and token.value is not None:
            return numeral(token)
        if token.kind == "word":
            return word(self, token)
        if token.text in ("(", "[", "]", "\\{"):
            return bracket(self, token.text)
        if token.text == "{":
            return braces(self)
        if token.text == "|":
            self.bars += 1
            node = self.sum()
            self.want("|")
            self.bars -= 1
            return Node("fn", (node,), "abs")
        if token.text == "...":
            return Node("dots")
        if token.kind == "cmd":
            return command(self, token)
        raise Unreadable(f"{token.text!r} stands where a value should")
