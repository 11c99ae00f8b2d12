"""Which calls agree, and the largest matching of two sides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from langchain_llm_judge.checks.alignment import Fits, Pair, in_any_order, in_order
from langchain_llm_judge.checks.sides import Item
from langchain_llm_judge.errors import ConfigError, shown

MatchMode = Literal["strict", "unordered", "subset", "superset"]
"""What the score asks.

`strict`: the same calls in the same order; `unordered`: the same calls; `subset`: only calls of the reference;
`superset`: all calls of the reference.
"""

ArgsMode = Literal["exact", "ignore", "subset", "superset"]
"""How arguments are compared: the same, not at all, called within expected, expected within called."""

ArgsRule = ArgsMode | Callable[[Any, Any], bool]
"""A mode, or a function of the called and the expected arguments that says whether they agree."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class AgreementRules:
    """When two calls agree."""

    mode: MatchMode
    args: ArgsMode
    overrides: dict[str, ArgsRule]

    @classmethod
    def of(cls, mode: MatchMode, args: ArgsMode, overrides: Mapping[str, ArgsRule] | None) -> AgreementRules:
        """The rules, or a `ConfigError` that names what is not usable."""
        _one_of("mode", mode, MatchMode)
        _one_of("args", args, ArgsMode)
        if overrides is not None and not isinstance(overrides, Mapping):
            raise ConfigError(f"overrides={shown(overrides)} is no mapping; give {{'tool': 'ignore'}} or a function")
        for tool, rule in (overrides or {}).items():
            if not callable(rule):
                _one_of(f"overrides[{tool!r}]", rule, ArgsMode, or_else=" or a function of both arguments")
        return cls(mode, args, dict(overrides or {}))

    def rule(self, tool: str) -> ArgsRule:
        """How the arguments of one tool are compared."""
        return self.overrides.get(tool, self.args)

    def agree(self, called: Item, expected: Item) -> bool:
        """Whether a called item is the expected one."""
        if called.name != expected.name:
            return False
        rule = self.rule(called.name)
        if callable(rule):
            return bool(rule(called.args, expected.args))
        if rule == "ignore" or expected.args is None:
            return True
        if rule == "subset":
            return called.parts <= expected.parts
        if rule == "superset":
            return called.parts >= expected.parts
        return called.key == expected.key


def _one_of(option: str, value: object, choices: Any, *, or_else: str = "") -> None:
    if value not in get_args(choices):
        accepted = ", ".join(map(repr, get_args(choices)))
        raise ConfigError(f"{option}={shown(value)} is not known; give one of {accepted}{or_else}")


def ordered_pairs(called: list[Item], expected: list[Item], rules: AgreementRules) -> list[Pair]:
    """The largest matching that keeps the order of messages."""
    fits = _fits(called, expected, rules)
    return in_order(fits, [item.batch for item in called], [item.batch for item in expected])


def free_pairs(called: list[Item], expected: list[Item], rules: AgreementRules) -> list[Pair]:
    """The largest matching in any order, equal arguments first; only calls of one tool can match."""
    mine, theirs = _positions(called, lambda item: item.name), _positions(expected, lambda item: item.name)
    pairs: list[Pair] = []
    for tool in mine.keys() & theirs.keys():
        pairs += _pairs_of_tool(called, expected, mine[tool], theirs[tool], rules)
    return pairs


def _pairs_of_tool(
    called: list[Item], expected: list[Item], mine: list[int], theirs: list[int], rules: AgreementRules
) -> list[Pair]:
    rule = rules.rule(called[mine[0]].name)
    # The built-in rules are transitive, so pairing equal calls first loses nothing. A function may be anything.
    equal = [] if callable(rule) else _equal_pairs(called, expected, mine, theirs)
    mine = _without(mine, (i for i, _ in equal))
    theirs = _without(theirs, (j for _, j in equal))
    if not mine or not theirs:
        return equal
    left, right = [called[i] for i in mine], [expected[j] for j in theirs]
    fits = _fits(left, right, rules)
    alike = np.array([[item.key == other.key for other in right] for item in left]) if callable(rule) else None
    return equal + [(mine[i], theirs[j]) for i, j in in_any_order(fits, alike)]


def _equal_pairs(called: list[Item], expected: list[Item], mine: list[int], theirs: list[int]) -> list[Pair]:
    wanted = _positions([expected[j] for j in theirs], lambda item: item.key)
    given = _positions([called[i] for i in mine], lambda item: item.key)
    return [
        (mine[i], theirs[j])
        for key in given.keys() & wanted.keys()
        for i, j in zip(given[key], wanted[key], strict=False)
    ]


def _positions(items: Sequence[Item], of: Callable[[Item], _T]) -> dict[_T, list[int]]:
    positions: dict[_T, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        positions[of(item)].append(position)
    return positions


def _without(positions: list[int], taken: Iterable[int]) -> list[int]:
    gone = set(taken)
    return [position for position in positions if position not in gone]


def _fits(called: list[Item], expected: list[Item], rules: AgreementRules) -> Fits:
    """Which items agree: equal ones by number, all at once; by the rule of their tool where that asks for more."""
    numbers: dict[Any, int] = {}
    rows, columns = _numbered(called, numbers), _numbered(expected, numbers)
    fits: Fits = rows[:, None] == columns[None, :]
    mine, theirs = _positions(called, lambda item: item.name), _positions(expected, lambda item: item.name)
    for tool in mine.keys() & theirs.keys():
        left, right = mine[tool], theirs[tool]
        if rules.rule(tool) != "exact" or any(expected[j].args is None for j in right):
            fits[np.ix_(left, right)] = [[rules.agree(called[i], expected[j]) for j in right] for i in left]
    return fits


def _numbered(items: list[Item], numbers: dict[Any, int]) -> NDArray[np.int_]:
    return np.array([numbers.setdefault(item.key, len(numbers)) for item in items], dtype=np.int_)
