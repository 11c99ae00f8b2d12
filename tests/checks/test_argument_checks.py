"""Arguments against the tool's schema."""

from __future__ import annotations

import datetime
import math

import pytest
from made_runs import call, done, run, tool

from langchain_llm_judge.checks.run import run_checks
from langchain_llm_judge.trace.schema import ToolCall, ToolSpec

CODES = ("missing_argument", "unexpected_argument", "invalid_argument")
BOOK = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "nights": {"type": "integer", "minimum": 1, "maximum": 30},
        "board": {"enum": ["none", "half", "full"]},
        "when": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "guests": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
                "required": ["name"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["city"],
}


def findings(args, parameters=BOOK):
    given = ToolCall(name="book", args=args)
    trace = run(*done(given), tools=[ToolSpec(name="book", parameters=parameters)])
    return [finding for finding in run_checks(trace).findings if finding.code in CODES]


def codes(args, parameters=BOOK) -> list[str]:
    return [finding.code for finding in findings(args, parameters)]


@pytest.mark.parametrize(
    "args",
    [
        {"city": "Rome"},
        {"city": "Rome", "nights": 3.0, "board": "half", "when": None, "guests": [{"name": "Ann", "age": 3}]},
        {"city": ""},
    ],
)
def test_arguments_that_fit(args):
    assert findings(args) == []


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        ({}, "missing_argument", "'book': required argument 'city' is missing; given are none"),
        (
            {"City": "Rome"},
            "missing_argument",
            "'book': required argument 'city' is missing; given are 'City'; did you mean 'City'?",
        ),
        (
            {"city": "Rome", "night": 3},
            "unexpected_argument",
            "'book' takes no argument 'night'; it takes 'city', 'nights', 'board', 'when', 'guests'; "
            "did you mean 'nights'?",
        ),
        ({"city": 3}, "invalid_argument", "'book': argument 'city' is 3; expected string"),
        ({"city": None}, "invalid_argument", "'book': argument 'city' is None; expected string"),
        ({"city": "Rome", "nights": "3"}, "invalid_argument", "'book': argument 'nights' is '3'; expected integer"),
        ({"city": "Rome", "nights": True}, "invalid_argument", "'book': argument 'nights' is True; expected integer"),
        (
            {"city": "Rome", "nights": math.nan},
            "invalid_argument",
            "'book': argument 'nights' is 'NaN'; expected integer",
        ),
        ({"city": "Rome", "nights": 31}, "invalid_argument", "'book': argument 'nights' is 31; "),
        (
            {"city": "Rome", "board": "all"},
            "invalid_argument",
            "'book': argument 'board' is 'all'; expected one of ['none', 'half', 'full']",
        ),
        ({"city": "Rome", "when": 3}, "invalid_argument", "'book': argument 'when' is 3; expected string or null"),
        (
            {"city": "Rome", "guests": [{"name": "Ann"}, {"name": 3}]},
            "invalid_argument",
            "'book': argument 'guests[1].name' is 3; expected string",
        ),
        (
            {"city": "Rome", "guests": [{"age": 3}]},
            "invalid_argument",
            "'book': argument 'guests[0]' is {'age': 3}; it lacks 'name'",
        ),
        (
            {"city": "Rome", "guests": [{"name": "Ann", "sex": "f"}]},
            "invalid_argument",
            "'book': argument 'guests[0]' is {'name': 'Ann', 'sex': 'f'}; it takes no 'sex'",
        ),
    ],
)
def test_what_is_wrong_is_told(args, code, message):
    told = {finding.code: finding for finding in findings(args)}
    assert told[code].message.startswith(message)
    assert (told[code].step, told[code].tool, told[code].severity) == (0, "book", "error")


def test_several_defects_of_one_call():
    assert sorted(codes({"nights": "x", "extra": 1, "board": 5})) == [
        "invalid_argument",
        "invalid_argument",
        "missing_argument",
        "unexpected_argument",
    ]


def test_one_finding_an_argument():
    guests = [{"name": number} for number in range(1000)]
    assert codes({"city": "Rome", "guests": guests}) == ["invalid_argument"]


def test_long_values_are_cut():
    (finding,) = findings({"city": ["x" * 100_000]})
    assert len(finding.message) < 400


class TestNamesTheToolDoesNotList:
    Q = {"q": {"type": "string"}}

    @pytest.mark.parametrize(
        ("rule", "severity"),
        [
            ({}, "error"),
            ({"additionalProperties": False}, "error"),
            ({"unevaluatedProperties": False}, "error"),
            ({"additionalProperties": True}, "warning"),
            ({"additionalProperties": {}}, "warning"),
            ({"additionalProperties": {"type": "integer"}}, None),
            ({"patternProperties": {"^x-": {}}}, "error"),
        ],
    )
    def test_severity(self, rule, severity):
        told = findings({"q": "a", "z": 1}, {"type": "object", "properties": self.Q, **rule})
        assert [finding.severity for finding in told] == ([severity] if severity else [])

    def test_a_warning_does_not_fail_the_check(self):
        trace = run(
            *done(ToolCall(name="s", args={"q": "a", "z": 1})),
            tools=[tool("s", type="object", properties=self.Q, additionalProperties=True)],
        )
        report = run_checks(trace)
        assert report.passed
        assert report.results["unexpected_argument"].status == "passed"

    def test_extras_with_a_schema_are_checked(self):
        schema = {"type": "object", "properties": self.Q, "additionalProperties": {"type": "integer"}}
        assert codes({"q": "a", "z": "1"}, schema) == ["invalid_argument"]

    def test_names_by_pattern(self):
        schema = {"type": "object", "properties": self.Q, "patternProperties": {"^x-": {"type": "integer"}}}
        assert codes({"q": "a", "x-a": 1}, schema) == []
        assert codes({"q": "a", "x-a": "1"}, schema) == ["invalid_argument"]

    @pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "additionalProperties": True}])
    def test_a_schema_that_lists_no_names_takes_any(self, schema):
        assert codes({"z": 1}, schema) == []

    def test_a_tool_without_arguments_takes_none(self):
        assert codes({"z": 1}, {"type": "object", "properties": {}}) == ["unexpected_argument"]

    @pytest.mark.parametrize(
        "schema",
        [
            {"allOf": [{"properties": {"q": {"type": "string"}}}, {"properties": {"n": {"type": "integer"}}}]},
            {"anyOf": [{"properties": {"q": {"type": "string"}}}, {"properties": {"n": {"type": "integer"}}}]},
            {
                "$ref": "#/$defs/A",
                "$defs": {"A": {"properties": {"q": {"type": "string"}, "n": {"type": "integer"}}}},
            },
            {
                "$ref": "#/definitions/A",
                "definitions": {"A": {"properties": {"q": {"type": "string"}, "n": {"type": "integer"}}}},
            },
            {"properties": {"q": {"type": "string"}}, "if": {"required": ["q"]}, "then": {"properties": {"n": {}}}},
        ],
        ids=["allOf", "anyOf", "$defs", "definitions", "if"],
    )
    def test_names_listed_in_other_places(self, schema):
        assert codes({"q": "a", "n": 1}, schema) == []
        assert "unexpected_argument" in codes({"q": "a", "z": 1}, schema)

    def test_names_behind_a_reference_that_is_not_followed(self):
        assert codes({"z": 1}, {"$ref": "#/$defs/nope", "properties": {"q": {}}}) == []


class TestAlternatives:
    EITHER = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
        "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
    }

    def test_one_of_two_is_needed(self):
        (finding,) = findings({}, self.EITHER)
        assert finding.code == "missing_argument"
        assert "'id' or 'name'" in finding.message

    def test_one_is_given(self):
        assert findings({"id": 1}, self.EITHER) == []

    def test_one_is_given_wrongly(self):
        parts = [{"required": ["id"]}, {"properties": {"name": {"type": "string"}}, "required": ["name"]}]
        schema = {"properties": {"id": {}, "name": {}}, "anyOf": parts}
        assert codes({"name": 3}, schema) == ["invalid_argument"]

    def test_arguments_that_do_not_fit_together(self):
        schema = {"properties": {"a": {}, "b": {}}, "not": {"required": ["a", "b"]}}
        (finding,) = findings({"a": 1, "b": 2}, schema)
        assert finding.code == "invalid_argument"
        assert "do not fit together" in finding.message


class TestPlainText:
    def test_it_is_the_first_argument(self):
        assert findings("Rome") == []

    def test_other_required_ones_are_missing(self):
        schema = {"properties": {"city": {"type": "string"}, "day": {"type": "string"}}, "required": ["city", "day"]}
        (finding,) = findings("Rome", schema)
        assert finding.code == "missing_argument"
        assert "'day'" in finding.message

    def test_its_value_is_checked_where_text_is_taken(self):
        assert codes("all", {"properties": {"board": {"type": "string", "enum": ["half"]}}}) == ["invalid_argument"]

    def test_whether_text_is_read_as_a_number_cannot_be_told(self):
        assert findings("3", {"properties": {"n": {"type": "integer"}}}) == []

    def test_a_tool_without_arguments(self):
        assert findings("anything", {"properties": {}}) == []


class TestWhatIsUnknown:
    def test_no_schema_at_all(self):
        report = run_checks(run(*done(call("a", x=1)), tools=["a"]))
        assert {report.results[code].status for code in CODES} == {"not_applicable"}
        assert report.results["invalid_argument"].why == "no called tool has a known schema"

    def test_tools_are_not_known(self):
        report = run_checks(run(*done(call("a", x=1))))
        assert report.results["invalid_argument"].why == "the source does not tell which tools were offered"

    def test_a_schema_of_one_of_two(self):
        report = run_checks(run(*done(call("a", x=1), call(city="x")), tools=["a", tool()]))
        assert report.results["invalid_argument"].model_dump() == {
            "status": "passed",
            "why": "nothing found; no schema is known of 'a'",
        }

    def test_no_calls(self):
        report = run_checks(run(tools=[tool()]))
        assert {report.results[code].status for code in CODES} == {"passed"}

    def test_an_unknown_tool_has_no_arguments_to_check(self):
        report = run_checks(run(*done(call("nope", x=1)), tools=[tool()]))
        assert [finding.code for finding in report.findings] == ["unknown_tool"]


def test_of_several_schemas_of_one_tool_the_best_fitting_counts():
    tools = [tool("s", properties={"q": {"type": "string"}}), tool("s", properties={"n": {"type": "integer"}})]
    report = run_checks(run(*done(call("s", q="x"), call("s", n=1)), tools=tools))
    assert report.findings == []
    assert run_checks(run(*done(call("s", n="x")), tools=tools)).findings != []


@pytest.mark.parametrize(
    "value", [datetime.datetime(2024, 1, 1), {1, 2}, b"x", object(), {1: 2}], ids=lambda value: type(value).__name__
)
def test_values_that_are_no_json_are_checked_as_a_trace_keeps_them(value):
    put_in_later = ToolCall(name="book", args={})
    put_in_later.args = {"city": "Rome", "nights": value}
    for trace in (
        run(*done(put_in_later), tools=[tool("book", **BOOK)]),
        run(*done(call("book", city="Rome", nights=value)), tools=[tool("book", **BOOK)]),
    ):
        assert [finding.code for finding in run_checks(trace).findings] == ["invalid_argument"]


def test_deep_arguments():
    deep: dict[str, object] = {}
    for _ in range(5_000):
        deep = {"a": deep}
    put_in_later = ToolCall(name="book", args={})
    put_in_later.args = {"city": "Rome", "when": deep}
    assert [f.code for f in run_checks(run(*done(put_in_later), tools=[tool("book", **BOOK)])).findings] == [
        "invalid_argument"
    ]


@pytest.mark.parametrize("value", ["\ud800", "\x00", "🚨" * 1000, 10**400, 1e308, -0.0])
def test_odd_values_do_not_break_the_check(value):
    findings({"city": value, "nights": value})
