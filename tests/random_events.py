"""Random events about the nodes of a file, as text and as what they mean of a world."""

import operator
import re
from fractions import Fraction


class Said:
    """A random event, as text and as what it means of a world."""

    def __init__(self, rng, model, names):
        self.rng, self.model, self.names = rng, model, names

    def pick(self, of):
        return of[int(self.rng.integers(len(of)))]

    def atom(self):
        name = self.pick(self.names)
        if name in self.model.groups:
            most = len(self.model.groups[name]["members"])
            sign, value = self.pick([">=", "<=", "<", ">", "=", "!="]), self.pick(range(most + 1))
            return f"{name}{sign}{value}", self.compare(name, sign, str(value))
        states = self.model.states(name)
        numbers = all(s.isdecimal() for s in states)
        sign = self.pick([">=", "<=", "<", ">", "="] if numbers else ["=", "!="])
        value = self.pick(states)
        return f"{name} {sign} {value}", self.compare(name, sign, value)

    def compare(self, name, sign, value):
        if sign in ("=", "!=") and name not in self.model.groups:
            return lambda world: (world[name] == value) is (sign == "=")
        number, limit = (lambda world: self.model.number(name, world)), Fraction(value)
        return {
            "=": lambda world: number(world) == limit, "!=": lambda world: number(world) != limit,
            "<": lambda world: number(world) < limit, "<=": lambda world: number(world) <= limit,
            ">": lambda world: number(world) > limit, ">=": lambda world: number(world) >= limit,
        }[sign]  # fmt: skip

    def event(self, depth=2):
        kind = self.pick(["atom", "and", "or", "not"] if depth else ["atom"])
        if kind == "atom":
            return self.atom()
        one, holds = self.event(depth - 1)
        if kind == "not":
            return f"not ({one})", lambda world: not holds(world)
        other, too = self.event(depth - 1)
        if kind == "or":
            return f"({one} or {other})", lambda world: holds(world) or too(world)
        return f"({one}), {other}", lambda world: holds(world) and too(world)


def nodes_of(model, names):
    return [node for name in names for node in model.nodes_of(name)]


def never(model, refusal):
    """Whether what is said to be never is met by no state of its node, or no count of its group."""
    atom, each = re.compile(r"(\w+)(>=|<=|!=|=|<|>)(\S+)"), refusal.partition(" can never be")[0]
    tests = [atom.fullmatch(one).groups() for one in each.split(" and ")]
    name = tests[0][0]
    group = model.groups.get(name)
    every = range(len(group["members"]) + 1) if group else model.states(name)
    signs = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}

    def fits(state, sign, value):
        if sign in ("=", "!="):
            return (str(state) == value) == (sign == "=")
        return signs[sign](float(state), float(value))

    return not any(all(fits(s, sign, value) for _, sign, value in tests) for s in every)
