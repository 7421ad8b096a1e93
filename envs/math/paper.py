"""Arithmetic as it is done by hand, digit by digit; each operation is counted.

The solvers of the mathematical environments work on it, and `Env.work` is what they needed.
"""

from __future__ import annotations

from fractions import Fraction


class Paper:
    """Sheet that counts what is written on it.

    One operation is a column of an addition or subtraction, a digit times a digit, a digit of a quotient, a
    look at a line. Shifting, signs, the choice of the larger of two numbers and a number that is copied
    are free.
    """

    def __init__(self) -> None:
        self.operations = 0

    def look(self) -> None:
        """Read a line, or compare two words."""
        self.operations += 1

    def add(self, a: int, b: int) -> int:
        """Return a + b."""
        if (a < 0) == (b < 0):
            total = self._sum(abs(a), abs(b))
            return -total if a < 0 else total
        left = self._difference(max(abs(a), abs(b)), min(abs(a), abs(b)))
        return left if (a if abs(a) > abs(b) else b) > 0 else -left

    def subtract(self, a: int, b: int) -> int:
        """Return a - b."""
        return self.add(a, -b)

    def multiply(self, a: int, b: int) -> int:
        """Return a * b; a row for each digit of the shorter number, and their sum."""
        long, short = max(abs(a), abs(b)), min(abs(a), abs(b))
        total, place = self._row(long, short % 10), 10
        while short >= place:
            total = self._sum(total, self._row(long, short // place % 10) * place)
            place *= 10
        return total if (a < 0) == (b < 0) else -total

    def divide(self, a: int, b: int) -> tuple[int, int]:
        """Return the quotient, rounded down, and the remainder, for b > 0."""
        quotient = rest = 0
        for digit in str(abs(a)):
            rest = 10 * rest + int(digit)
            self.operations += 1
            times = rest // b
            if times:
                rest = self._difference(rest, self._row(b, times))
            quotient = 10 * quotient + times
        if a >= 0:
            return quotient, rest
        return (-self._sum(quotient, 1), self._difference(b, rest)) if rest else (-quotient, 0)

    def divide_exactly(self, a: int, b: int) -> int:
        """Return a / b, which must be whole."""
        found, _ = self.divide(abs(a), abs(b))
        return found if (a < 0) == (b < 0) else -found

    def common_divisor(self, a: int, b: int) -> int:
        """Return the greatest common divisor, by Euclid's algorithm."""
        a, b = abs(a), abs(b)
        while b:
            a, b = b, self.divide(a, b)[1]
        return a

    def factorize(self, n: int) -> dict[int, int]:
        """Return the prime factors with their exponents; 2 and odd numbers are tried."""
        found: dict[int, int] = {}
        prime = 2
        while prime * prime <= n:
            whole, rest = self.divide(n, prime)
            if rest:
                prime += 1 if prime == 2 else 2
            else:
                found[prime] = found.get(prime, 0) + 1
                n = whole
        if n > 1:
            found[n] = found.get(n, 0) + 1
        return found

    def reduce(self, above: int, below: int) -> Fraction:
        """Return a fraction in lowest terms."""
        common = self.common_divisor(above, below)
        if common > 1:
            above, below = self.divide_exactly(above, common), self.divide_exactly(below, common)
        return Fraction(above, below)

    def add_fractions(self, a: Fraction, b: Fraction) -> Fraction:
        """Return the sum of two fractions."""
        if a.denominator == b.denominator == 1:
            return Fraction(self.add(a.numerator, b.numerator))
        above = self.add(
            self.multiply(a.numerator, b.denominator), self.multiply(b.numerator, a.denominator)
        )
        return self.reduce(above, self.multiply(a.denominator, b.denominator))

    def subtract_fractions(self, a: Fraction, b: Fraction) -> Fraction:
        """Return the difference of two fractions."""
        return self.add_fractions(a, -b)

    def multiply_fractions(self, a: Fraction, b: Fraction) -> Fraction:
        """Return the product of two fractions."""
        above = self.multiply(a.numerator, b.numerator)
        if a.denominator == b.denominator == 1:
            return Fraction(above)
        return self.reduce(above, self.multiply(a.denominator, b.denominator))

    def divide_fractions(self, a: Fraction, b: Fraction) -> Fraction:
        """Return the quotient of two fractions."""
        return self.multiply_fractions(a, 1 / b)

    def _sum(self, a: int, b: int) -> int:
        total = carry = 0
        place = 1
        while b or carry:
            a, upper = divmod(a, 10)
            b, lower = divmod(b, 10)
            self.operations += 1
            carry, digit = divmod(upper + lower + carry, 10)
            total += digit * place
            place *= 10
        return total + a * place

    def _difference(self, a: int, b: int) -> int:
        """Subtract the smaller number b from a."""
        total = borrow = 0
        place = 1
        while b or borrow:
            a, upper = divmod(a, 10)
            b, lower = divmod(b, 10)
            self.operations += 1
            digit = upper - lower - borrow
            borrow = int(digit < 0)
            total += (digit + 10 * borrow) * place
            place *= 10
        return total + a * place

    def _row(self, a: int, by: int) -> int:
        """Multiply by one digit."""
        total = carry = 0
        place = 1
        for digit in reversed(str(a)):
            self.operations += 1
            carry, last = divmod(int(digit) * by + carry, 10)
            total += last * place
            place *= 10
        return total + carry * place
