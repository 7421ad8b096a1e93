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

from verigym.verifiers.math.lexer import Token, tokens
from verigym.verifiers.math.trees import (
    MAX_BODY,
    MAX_DEPTH,
    MAX_HEIGHT,
    MAX_ITEMS,
    MAX_SERIES,
    Node,
    TooBig,
    Unreadable,
    names,
    num,
)

RELATIONS = {
    "=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "!=": "!=", "\\approx": "~", "\\equiv": "=",
    "\\in": "in", "\\sim": "~", "\\notin": "notin", "\\iff": "iff", "\\subseteq": "sub",
}  # fmt: skip
FUNCTIONS = {
    **{name: name for name in names("sin cos tan cot sec csc sinh cosh tanh coth sech csch arcsin arccos arctan arccot arcsec arccsc "
        "ln log exp sqrt cbrt abs floor ceil gcd lcm min max binomial factorial sign det tr deg arg "
        "conj Re Im lg mod arsinh arcosh artanh phi") if name not in ("mod", "phi", "det", "tr", "deg")},
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "arcsinh": "arsinh", "arccosh": "arcosh",
    "arctanh": "artanh", "asinh": "arsinh", "acosh": "arcosh", "atanh": "artanh", "ceiling": "ceil",
    "binom": "binomial", "sgn": "sign", "tg": "tan", "ctg": "cot", "arctg": "arctan", "cosec": "csc",
    "arsh": "arsinh", "arch": "arcosh", "arth": "artanh", "comb": "binomial",
    "HCF": "gcd", "LCM": "lcm", "GCD": "gcd", "Sqrt": "sqrt", "Abs": "abs",
}  # fmt: skip
CONSTANTS = {
    "pi": "pi",
    "infty": "inf",
    "infinity": "inf",
    "oo": "inf",
    "inf": "inf",
    "Infinity": "inf",
}
NAMED = {"\\RR": "R", "\\ZZ": "Z", "\\NN": "N", "\\QQ": "Q", "\\CC": "C", "\\emptyset": "empty"}
GREEK = frozenset(
    names(
        "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi "
        "omega Gamma Delta Theta Lambda Sigma Phi Psi Omega ell Xi"
    )
)
CALLED = frozenset("fghFGPQC")
BASES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
         "ten": 10, "eleven": 11, "twelve": 12, "sixteen": 16}  # fmt: skip
_CLOSING = {"(": ")", "[": "]", "\\{": "\\}", "\\lfloor": "\\rfloor", "\\lceil": "\\rceil"}
_MATRICES = frozenset(
    ("matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "smallmatrix", "array")
)


_BASED = re.compile(
    r"\(?(\d[0-9A-Za-z]*|[A-Fa-f]+\d[0-9A-Fa-f]*|(?:[A-F]+|[a-f]{2,})(?=\)?\s*_\s*\{?\s*16))\)?\s*_\s*\{?\s*(1[0-6]|[2-9])\s*\}?"
)


def parse(text: str, *, thousands: bool = True) -> Node:
    """The tree of one cleaned item. Raises Unreadable or TooBig."""
    written = _BASED.fullmatch(text)
    if written:
        return Node("based", value=(written[1].upper(), int(written[2])))
    reader = _Parser(tokens(text, thousands=thousands))
    node = reader.item()
    if reader.here.kind != "end":
        raise Unreadable(f"{reader.here.text!r} stands where the answer should end")
    if node.height() > MAX_HEIGHT:
        raise TooBig(f"a tree is at most {MAX_HEIGHT} high")
    return node


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.at = 0
        self.depth = 0
        self.bars = 0
        self.series_seen = 0

    @property
    def here(self) -> Token:
        return self.tokens[min(self.at, len(self.tokens) - 1)]

    def peek(self, ahead: int = 1) -> Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def take(self, *texts: str) -> bool:
        if self.here.kind != "num" and self.here.text in texts and self.here.kind != "end":
            self.at += 1
            return True
        return False

    def want(self, text: str) -> None:
        if not self.take(text):
            raise Unreadable(f"{text!r} is missing before {self.here.text!r}")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH * 4:
            raise TooBig(f"an answer nests at most {MAX_DEPTH} deep")

    def item(self) -> Node:
        self.deeper()
        node = self.relation()
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

    builder = 0

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
        if whole and left.kind == "num" and right.kind == "percent" and _proper(right.args[0]):
            return Node("percent", (Node("add", (left, right.args[0])),))
        if whole and left.kind == "num":
            if start.text == "\\frac" and _proper(right):
                return Node("add", (left, right))
            if start.kind == "num":
                if start.spaced and start.text.isdecimal() and self.take("/"):
                    below = self.power()
                    fraction = Node("div", (right, below))
                    if _proper(fraction):
                        return Node("add", (left, fraction))
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
            return token.text in _STARTS or token.text[1:] in FUNCTIONS or token.text[1:] in GREEK
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
                node = self.based()
            else:
                return node

    def based(self) -> Node:
        """A number with its base below: the digits are the token (or the tokens in brackets) before."""
        last = self.tokens[self.at - 1]
        if last.text == ")":
            open_at = self.at - 2
            while open_at > 0 and self.tokens[open_at].text != "(":
                open_at -= 1
            digits = "".join(token.text for token in self.tokens[open_at + 1 : self.at - 1])
        else:
            digits = last.text
        self.want("_")
        braced = self.take("{")
        token = self.here
        self.at += 1
        base = BASES.get(token.text) if token.kind == "word" else None
        if token.kind == "num" and token.text.isdecimal() and len(token.text) <= 2:
            base = int(token.text)
        if braced:
            self.want("}")
        if base is None or not 2 <= base <= 36:
            raise Unreadable(f"{token.text!r} is no base")
        return Node("based", value=(digits.upper(), base))

    def atom(self) -> Node:
        token = self.here
        if token.kind == "end":
            raise Unreadable("the answer breaks off")
        self.at += 1
        if token.kind == "num" and token.value is not None:
            return _number(token)
        if token.kind == "word":
            return self.word(token)
        if token.text in ("(", "[", "]", "\\{"):
            return self.bracket(token.text)
        if token.text == "{":
            return self.braces()
        if token.text == "|":
            self.bars += 1
            node = self.sum()
            self.want("|")
            self.bars -= 1
            return Node("fn", (node,), "abs")
        if token.text == "...":
            return Node("dots")
        if token.kind == "cmd":
            return self.command(token)
        raise Unreadable(f"{token.text!r} stands where a value should")

    def word(self, token: Token) -> Node:
        name = token.text
        if name in FUNCTIONS and len(name) > 1:
            return self.function(FUNCTIONS[name])
        if name in CONSTANTS:
            return Node("const", value=CONSTANTS[name])
        if name in GREEK:
            return self.variable(name)
        if name == "matrix" and self.take("("):
            rows = self.listed(")")
            if rows and all(
                row.kind == "tuple" and len(row.args) == len(rows[0].args) for row in rows
            ):
                return Node("matrix", tuple(Node("row", row.args) for row in rows))
        if len(name) == 1:
            return self.letter(name)
        for size in range(min(len(name) - 1, 7), 1, -1):
            # sinx, 2pi r: a known name, then letters.
            if name[:size] in FUNCTIONS or name[:size] in CONSTANTS:
                rest = Token("word", name[size:], False)
                self.tokens[self.at - 1] = Token("word", name[:size], token.spaced)
                self.tokens.insert(self.at, rest)
                return self.word(self.tokens[self.at - 1])
        if len(name) > 3 or name.lower() in _ENGLISH:
            raise Unreadable(f"{name!r} is no mathematics")
        self.tokens[self.at - 1 : self.at] = [
            Token("word", letter, token.spaced and i == 0) for i, letter in enumerate(name)
        ]
        return self.letter(name[0])

    def letter(self, name: str) -> Node:
        if name == "e":
            return Node("const", value="e")
        if name == "i":
            return Node("const", value="i")
        return self.variable(name)

    def variable(self, name: str) -> Node:
        if self.take("_"):
            name = f"{name}_{self.index()}"
        while self.here.text == "'" and self.here.kind == "op":
            self.at += 1
            name += "'"
        if name[0] in CALLED and self.here.text == "(" and not self.here.spaced:
            return self.call(name)
        return Node("var", value=name)

    def call(self, name: str) -> Node:
        """f(x): an unknown function, of names and numbers only; f(x+1) may be a product."""
        start = self.at
        self.at += 1
        args = self.listed(")")
        if name == "C" and len(args) == 2:
            return Node("fn", args, "binomial")
        if name != "C" and all(arg.kind in ("var", "num", "const") for arg in args):
            return Node("call", args, name)
        self.at = start
        return Node("var", value=name)

    def index(self) -> str:
        if self.take("{"):
            parts = []
            while not self.take("}"):
                if self.here.kind == "end":
                    raise Unreadable("a brace is not closed")
                parts.append(self.here.text)
                self.at += 1
            return "".join(parts)
        if self.here.kind == "end":
            raise Unreadable("an index is missing")
        self.at += 1
        return self.tokens[self.at - 1].text

    def listed(self, closing: str) -> tuple[Node, ...]:
        found: list[Node] = []
        while not self.take(closing):
            if len(found) >= MAX_ITEMS:
                raise TooBig(f"a list has at most {MAX_ITEMS} items")
            found.append(self.item())
            if not self.take(",", ";") and self.here.text != closing:
                raise Unreadable(f"{closing!r} is missing before {self.here.text!r}")
        return tuple(found)

    def bracket(self, opening: str) -> Node:
        """A group, a tuple, an interval or a set."""
        self.deeper()
        bars, builder, self.bars, self.builder = self.bars, self.builder, 0, 0
        if opening == "\\{":
            self.builder = 1
            if self.take("\\}"):
                node = Node("named", value="empty")
            else:
                first = self.item()
                if self.take("|", ":"):
                    self.builder = 0
                    conditions = self.listed("\\}")
                    node = Node("builder", (first, *conditions))
                else:
                    rest: tuple[Node, ...] = ()
                    if self.take(",", ";"):
                        rest = self.listed("\\}")
                    else:
                        self.want("\\}")
                    node = Node("set", (first, *rest))
        else:
            items: list[Node] = []
            while True:
                if len(items) >= MAX_ITEMS:
                    raise TooBig(f"a list has at most {MAX_ITEMS} items")
                items.append(self.item())
                if self.take(",", ";"):
                    continue
                if self.here.text in (")", "]") or self.here.text == "[":
                    closing = self.here.text
                    self.at += 1
                    break
                raise Unreadable(f"a {opening!r} is not closed before {self.here.text!r}")
            if len(items) == 1:
                if _CLOSING.get(opening) != closing:
                    raise Unreadable(f"{opening!r} is closed by {closing!r}")
                node = (
                    items[0]
                    if opening == "(" or items[0].kind == "matrix"
                    else Node("tuple", tuple(items), "[]")
                )
                if node.kind in ("tuple", "set") and opening == "(":
                    node = Node("tuple", (node,), "()") if node.kind == "set" else node
            else:
                node = Node("tuple", tuple(items), _shape(opening, closing))
        self.bars, self.builder = bars, builder
        self.depth -= 1
        return node

    def braces(self) -> Node:
        """A TeX group; with commas, a set whose braces lost their backslashes."""
        self.deeper()
        bars, builder, self.bars, self.builder = self.bars, self.builder, 0, 0
        first = self.item()
        if self.take("\\choose"):
            node = Node("fn", (first, self.item()), "binomial")
            self.want("}")
        elif self.take(",", ";"):
            node = Node("set", (first, *self.listed("}")))
        else:
            self.want("}")
            node = first
        self.bars, self.builder = bars, builder
        self.depth -= 1
        return node

    def group(self) -> Node:
        """The argument of a TeX command: a braced group, or one sign (of a number, one digit)."""
        if self.take("{"):
            self.deeper()
            bars, builder, self.bars, self.builder = self.bars, self.builder, 0, 0
            node = self.item()
            self.want("}")
            self.bars, self.builder = bars, builder
            self.depth -= 1
            return node
        token = self.here
        if token.kind == "num" and token.text.isdecimal() and len(token.text) > 1:
            first, rest = token.text[0], token.text[1:]
            self.tokens[self.at : self.at + 1] = [
                Token("num", first, token.spaced, Fraction(int(first))),
                Token("num", rest, False, Fraction(int(rest))),
            ]
        if token.kind == "word" and len(token.text) > 1:
            self.tokens[self.at : self.at + 1] = [
                Token("word", token.text[0], token.spaced),
                Token("word", token.text[1:], False),
            ]
        return self.atom()

    def command(self, token: Token) -> Node:
        name = token.text[1:]
        if token.text in NAMED:
            return self.named(NAMED[token.text])
        if name == "frac":
            above = self.group()
            return Node("div", (above, self.group()))
        if name in ("binom", "choose"):
            above = self.group()
            return Node("fn", (above, self.group()), "binomial")
        if name in ("sqrt", "usqrt", "ucbrt"):
            return self.root(name)
        if name == "dollar":
            raise Unreadable("a dollar sign inside")
        if name in ("lfloor", "lceil"):
            node = self.sum()
            self.want(_CLOSING[token.text])
            return Node("fn", (node,), "floor" if name == "lfloor" else "ceil")
        if name in FUNCTIONS:
            return self.function(FUNCTIONS[name])
        if name in CONSTANTS:
            return Node("const", value=CONSTANTS[name])
        if name in GREEK:
            return self.variable(name)
        if name in ("overline", "bar"):
            return Node("fn", (self.group(),), "conj")
        if name == "begin":
            return self.environment()
        if name in ("sum", "prod"):
            return self.series(name)
        if name == "circ":
            raise Unreadable("a degree sign alone")
        raise Unreadable(f"\\{name} is not known")

    def named(self, name: str) -> Node:
        marks = ""
        while self.here.text in ("^", "_") and self.here.kind == "op":
            self.at += 1
            braced = self.take("{")
            while self.here.kind in ("op", "num", "cmd") and self.here.text in (
                "+", "-", "*", "0", ">", ">=", "1", "2", "3", "n", "!=",
            ):  # fmt: skip
                marks += self.here.text
                self.at += 1
                if not braced:
                    break
            if braced:
                self.want("}")
        return Node("named", value=name + marks)

    def root(self, name: str) -> Node:
        if name == "sqrt" and self.here.text == "[":
            self.at += 1
            degree = self.sum()
            self.want("]")
            body = self.group()
            if degree == num(3):
                return Node("fn", (body,), "cbrt")
            return Node("fn", (body, degree), "root")
        body = self.group() if name == "sqrt" and self.here.text != "(" else self.power_free()
        return Node("fn", (body,), "cbrt" if name == "ucbrt" else "sqrt")

    def power_free(self) -> Node:
        return self.atom()

    def function(self, name: str) -> Node:
        if name in ("sqrt", "cbrt") and self.here.text == "{":
            return Node("fn", (self.group(),), name)
        base: Node | None = None
        power: Node | None = None
        while self.here.text in ("_", "^") and self.here.kind == "op":
            below = self.here.text == "_"
            self.at += 1
            if below:
                base = self.group()
            elif self.take("{"):
                power = self.item()
                self.want("}")
            else:
                power = self.exponent()
        args = self.arguments(name)
        if name == "log" and base is not None:
            args = (args[0], base)
        elif name == "log" and len(args) == 2:
            pass
        elif name == "lg":
            name, args = "log", (args[0], num(10))
        elif base is not None:
            raise Unreadable(f"{name} has no base")
        if power is not None and name in _INVERSE and power in (Node("neg", (num(1),)), num(-1)):
            return Node("fn", args, _INVERSE[name])
        node = Node("fn", args, name)
        return node if power is None else Node("pow", (node, power))

    def arguments(self, name: str) -> tuple[Node, ...]:
        if self.here.text == "(" and self.here.kind == "op":
            self.at += 1
            bars, builder, self.bars, self.builder = self.bars, self.builder, 0, 0
            found = self.listed(")")
            self.bars, self.builder = bars, builder
            if not found:
                raise Unreadable(f"{name} has no argument")
            return found
        if self.here.text == "[" and self.here.kind == "op":
            self.at += 1
            return self.listed("]")
        if self.here.text == "{" and self.here.kind == "op":
            return (self.group(),)
        if self.here.text == "-" and self.here.kind == "op":
            self.at += 1
            return (Node("neg", self.arguments(name)),)
        self.deeper()
        node = self.power()
        while self.starts_factor() and not self._is_function() and self.here.text != "(":
            node = self.beside(node)
        while self.here.text == "/" and self.tokens[self.at - 1].kind in ("num", "cmd", "word"):
            # sin pi/6, cos 2x/3: the quotient belongs to the argument where it is a plain number.
            after = self.peek()
            if after.kind != "num":
                break
            self.at += 1
            node = Node("div", (node, self.power()))
        self.depth -= 1
        return (node,)

    def _is_function(self) -> bool:
        text = self.here.text
        return (
            text.lstrip("\\") in FUNCTIONS
            and len(text) > 1
            and text.lstrip("\\") not in ("sqrt", "cbrt")
        )

    def environment(self) -> Node:
        self.want("{")
        kind = self.here.text
        self.at += 1
        self.want("}")
        if kind not in _MATRICES:
            raise Unreadable(f"\\begin{{{kind}}} is not known")
        if kind == "array" and self.take("{"):
            while not self.take("}"):
                if self.here.kind == "end":
                    raise Unreadable("a brace is not closed")
                self.at += 1
        rows: list[Node] = []
        cells: list[Node] = []
        while True:
            if self.take("\\\\"):
                rows, cells = [*rows, Node("row", tuple(cells))] if cells else rows, []
                continue
            if self.take("\\end"):
                break
            if self.take("\\hline") or self.take("&"):
                continue
            cells.append(self.item())
            if len(rows) + len(cells) > MAX_ITEMS:
                raise TooBig(f"a matrix has at most {MAX_ITEMS} cells")
        if cells:
            rows.append(Node("row", tuple(cells)))
        self.want("{")
        self.at += 1
        self.want("}")
        if not rows or len({len(row.args) for row in rows}) != 1:
            raise Unreadable("the rows of the matrix differ in length")
        matrix = Node("matrix", tuple(rows))
        return Node("fn", (matrix,), "det") if kind == "vmatrix" else matrix

    def series(self, name: str) -> Node:
        """A finite sum or product: index = from, to, body."""
        self.want("_")
        self.want("{")
        index = self.here.text
        if self.here.kind != "word" or len(index) != 1:
            raise Unreadable("the index of a sum is one letter")
        self.at += 1
        self.want("=")
        start = self.sum()
        self.want("}")
        self.want("^")
        end = self.group()
        body = self.product()
        self.series_seen += 1
        size = sum(1 for _ in body.walk())
        if self.series_seen > MAX_SERIES or size > MAX_BODY or body.has("sum", "prod"):
            raise TooBig(f"at most {MAX_SERIES} sums, not nested, of at most {MAX_BODY} signs")
        return Node(name, (start, end, body), index)


_ENGLISH = frozenset(
    names(
        "all the and any for not are odd yes no of is to or if let it two six ten one by as at on be we so "
        "sum but can has was its per use his her few set nor"
    )
)
_INVERSE = {
    "sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot", "sec": "arcsec", "csc": "arccsc",
    "sinh": "arsinh", "cosh": "arcosh", "tanh": "artanh",
}  # fmt: skip
_STARTS = frozenset(
    ("\\frac", "\\sqrt", "\\usqrt", "\\ucbrt", "\\binom", "\\pi", "\\infty", "\\{", "\\lfloor", "\\lceil",
     "\\begin", "\\overline", "\\bar", "\\sum", "\\prod", *NAMED)
)  # fmt: skip


def _shape(opening: str, closing: str) -> str:
    """The brackets of an interval; ]0,1[ is open at both ends."""
    return {"]": "("}.get(opening, opening) + {"[": ")"}.get(closing, closing)


def _number(token: Token) -> Node:
    assert token.value is not None
    if (
        "." in token.text
        and "\\" not in token.text
        and "..." not in token.text
        and "(" not in token.text
    ):
        return Node("dec", value=(token.value, _decimals(token.text)))
    return Node("num", value=token.value)


def _decimals(shown: str) -> int:
    mantissa, _, exponent = shown.lower().partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


def _proper(node: Node) -> bool:
    """Whether `node` is a fraction of plain whole numbers below one, as in a mixed number."""
    if node.kind != "div":
        return False
    above, below = node.args
    return (
        above.kind == below.kind == "num"
        and above.value.denominator == below.value.denominator == 1
        and 0 < above.value < below.value
    )
