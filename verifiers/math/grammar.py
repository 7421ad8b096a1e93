"""The words of the language of answers: relations, functions, constants, sets and letters."""

from __future__ import annotations

from verigym.verifiers.math.trees import names

RELATIONS = {
    "=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "!=": "!=", "\\approx": "~", "\\equiv": "=",
    "\\in": "in", "\\sim": "~", "\\notin": "notin", "\\iff": "iff", "\\subseteq": "sub",
}  # fmt: skip
FUNCTIONS = {
    **{name: name for name in names("sin cos tan cot sec csc sinh cosh tanh coth sech csch arcsin arccos arctan arccot arcsec arccsc "
        "ln log exp sqrt cbrt abs floor ceil gcd lcm min max binomial factorial sign det tr deg arg "
        "conj Re Im cis lg mod arsinh arcosh artanh phi") if name not in ("mod", "phi", "det", "tr", "deg")},
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
        "hbar partial nabla omega Gamma Delta Theta Lambda Sigma Phi Psi Omega ell Xi"
    )
)
CALLED = frozenset("fghFGPQC")
BASES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
         "ten": 10, "eleven": 11, "twelve": 12, "sixteen": 16}  # fmt: skip
CLOSING = {"(": ")", "[": "]", "\\{": "\\}", "\\lfloor": "\\rfloor", "\\lceil": "\\rceil"}
MATRICES = frozenset(("matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "smallmatrix", "array"))
ENGLISH = frozenset(
    names(
        "all the and any for not are odd yes no of is to or if let it two six ten one by as at on be we so "
        "sum but can has was its per use his her few set nor"
    )
)
PARITIES = {"even": 0, "odd": 1}
ANGULAR = ("sin", "cos", "tan", "cot", "sec", "csc")
INVERSE = {
    "sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot", "sec": "arcsec", "csc": "arccsc",
    "sinh": "arsinh", "cosh": "arcosh", "tanh": "artanh",
}  # fmt: skip
STARTS = frozenset(
    ("\\frac", "\\sqrt", "\\usqrt", "\\ucbrt", "\\binom", "\\pi", "\\infty", "\\{", "\\lfloor", "\\lceil",
     "\\begin", "\\overline", "\\bar", "\\sum", "\\prod", *NAMED)
)  # fmt: skip
