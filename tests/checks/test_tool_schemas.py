"""Schemas as they are found in the wild."""

from __future__ import annotations

import copy
import http.server
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from made_runs import done, run

from langchain_llm_judge.checks.arguments import argument_defects
from langchain_llm_judge.checks.run import run_checks
from langchain_llm_judge.checks.schemas import argument_schema
from langchain_llm_judge.trace.schema import ToolCall, ToolSpec


def codes(parameters, **args) -> list[str]:
    return [defect.code for defect in argument_defects(ToolCall(name="t", args=args), [argument_schema(parameters)])]


def of(part, **root):
    return {"type": "object", "properties": {"x": part}, **root}


WRONG = ["invalid_argument"]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("dict", {}, []),
        ("float", 1.5, "1.5"),
        ("tuple", [1], {}),
        ("list", [1], "1"),
        ("str", "a", 1),
        ("int", 1, 1.5),
        ("bool", True, 1),
        ("STRING", "a", 1),
        ("Integer", 3, "3"),
        ("ArrayList", [], {}),
        ("HashMap", {}, []),
        ("null", None, 0),
        (["STRING", "NULL"], None, 1),
    ],
)
def test_type_names_of_other_dialects(name, good, bad):
    assert codes(of({"type": name}), x=good) == []
    assert codes(of({"type": name}), x=bad) == WRONG


@pytest.mark.parametrize("name", ["any", "Any", ["any"], "List[str]", "Optional[int]", "date", 7, [], [7], {"a": 1}])
@pytest.mark.parametrize("value", [1, "a", None, [], {}])
def test_types_that_mean_anything_or_nothing(name, value):
    assert codes(of({"type": name}), x=value) == []


def test_a_type_left_out_is_told():
    trace = run(
        *done(ToolCall(name="t", args={"x": 1})), tools=[ToolSpec(name="t", parameters=of({"type": "List[str]"}))]
    )
    why = run_checks(trace).results["invalid_argument"].why
    assert why == "nothing found; schema of 't': 'type': 'List[str]' is not understood and is left out"


def test_any_needs_no_note():
    assert argument_schema(of({"type": "any"})).notes == ()


def test_the_root_in_another_dialect():
    schema = {"type": "dict", "properties": {"x": {"type": "float"}}, "required": ["x"]}
    assert codes(schema, x=1) == []
    assert codes(schema) == ["missing_argument"]
    assert codes(schema, x=1, y=2) == ["unexpected_argument"]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "nullable": True},
        {"type": "string", "enum": ["a"], "nullable": True},
        {"type": ["string"], "nullable": True},
        {"$ref": "#/$defs/S", "nullable": True},
        {"allOf": [{"type": "string"}], "type": "string", "nullable": False},
    ],
)
def test_nullable(part):
    schema = of(part, **{"$defs": {"S": {"type": "string"}}})
    assert codes(schema, x="a") == []
    assert codes(schema, x=None) == ([] if part["nullable"] else WRONG)
    assert codes(schema, x=3) == WRONG


def test_required_on_the_argument_itself():
    assert codes(of({"type": "string", "required": True})) == ["missing_argument"]
    assert codes(of({"type": "string", "required": False})) == []
    assert codes(of({"type": "string", "required": True}, required=["x"])) == ["missing_argument"]


def test_null_keywords_need_no_note():
    assert argument_schema(of({"type": None, "items": None, "required": None, "anyOf": None})).notes == ()


@pytest.mark.parametrize(
    "part",
    [
        {"type": "integer", "enum": None, "items": None, "minimum": None, "required": None},
        {"type": "integer", "properties": [], "allOf": [], "required": "x"},
        {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
        {"type": "integer", "default": None, "examples": [None]},
    ],
)
def test_keywords_that_are_null_or_of_the_wrong_kind_spoil_nothing(part):
    assert codes(of(part), x=3) == []
    assert codes(of(part), x="a") == WRONG


@pytest.mark.parametrize(
    "part",
    [
        {"type": "string", "pattern": "(["},
        {"type": "string", "minLength": "three"},
        {"$ref": "#/$defs/nope"},
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "file:///etc/hostname"},
        {"enum": "a"},
        "string",
        7,
        [],
    ],
)
def test_a_broken_part_opens_only_its_own_argument(part):
    schema = {"type": "object", "properties": {"x": part, "y": {"type": "integer"}}, "required": ["y"]}
    for value in ("a", 1, None):
        assert codes(schema, x=value, y=1) == []
    assert codes(schema, x=1, y="a") == WRONG
    assert codes(schema, x=1) == ["missing_argument"]
    assert codes(schema, y=1, z=1) == ["unexpected_argument"]
    assert argument_schema(schema).notes


@pytest.mark.parametrize(
    "root",
    [{"allOf": [{"$ref": "#/nope"}]}, {"minProperties": "x"}, {"not": {"pattern": "(["}}],
)
def test_a_root_that_cannot_be_compiled_leaves_the_names(root):
    schema = of({"type": "integer"}, required=["x"], **root)
    assert codes(schema) == ["missing_argument"]
    assert any("only names were checked" in note for note in argument_schema(schema).notes)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string"}, {"type": 7}, {"properties": None}, {"properties": [1]}, {"properties": {"x": None}},
        {"$schema": 7}, {"required": "x"}, {"required": None}, {"required": [1]}, {"required": ["x", "x"]},
        {"$defs": {"a": 3}}, {"items": 3}, {"additionalProperties": 3}, {"allOf": [True, False]}, {"anyOf": "x"},
        {"$ref": 3}, {"$ref": "#"}, {"$ref": "#/properties/x"}, {"$ref": "#/a/0"}, {"$ref": "#anchor"},
        {"if": None}, {"patternProperties": {"([": {}}}, {"dependentSchemas": {"x": 1}}, {"not": {}},
        {"title": object()}, {"enum": [{1}]}, {1: 2},
    ],
    ids=lambda schema: " ".join(map(str, schema)),
)  # fmt: skip
def test_no_schema_breaks_the_checks(schema):
    before = copy.copy(schema)
    for args in ({}, {"x": 1}, {"x": None, "y": [1]}):
        codes(schema, **args)
    argument_defects(ToolCall(name="t", args="text"), [argument_schema(schema)])
    assert schema == before


def test_schemas_that_refer_to_themselves():
    tree = {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/T"}}}
    schema = {"$ref": "#/$defs/T", "$defs": {"T": tree}}
    assert codes(schema, v=1, next={"v": 2, "next": {"v": 3}}) == []
    assert codes(schema, v=1, next={"v": 2, "next": {"v": "3"}}) == WRONG
    assert codes(schema, w=1) == ["unexpected_argument"]


def test_a_deep_schema():
    schema: dict[str, object] = {"type": "integer"}
    for _ in range(5_000):
        schema = {"type": "object", "properties": {"x": schema}}
    assert codes(schema, x={}) == []
    assert codes(schema, x=1) == WRONG


@pytest.mark.parametrize(
    ("draft", "part", "good", "bad"),
    [
        ("http://json-schema.org/draft-04/schema#", {"minimum": 1, "exclusiveMinimum": True}, 2, 1),
        ("http://json-schema.org/draft-06/schema#", {"exclusiveMinimum": 1}, 2, 1),
        ("http://json-schema.org/draft-07/schema#", {"items": [{"type": "integer"}]}, [1], ["a"]),
        ("https://json-schema.org/draft/2019-09/schema", {"items": [{"type": "integer"}]}, [1], ["a"]),
        ("https://json-schema.org/draft/2020-12/schema", {"prefixItems": [{"type": "integer"}]}, [1], ["a"]),
        ("https://example.com/my-own", {"type": "integer"}, 1, "a"),
        (None, {"items": [{"type": "integer"}]}, [1], ["a"]),
        (None, {"prefixItems": [{"type": "integer"}]}, [1], ["a"]),
    ],
)
def test_drafts(draft, part, good, bad):
    schema = of(part, **({"$schema": draft} if draft else {}))
    assert codes(schema, x=good) == []
    assert codes(schema, x=bad) == WRONG
    assert argument_schema(schema).notes == ()


def test_the_declared_draft_counts():
    # Up to draft 7 nothing beside `$ref` is looked at.
    schema = of({"$ref": "#/definitions/A", "type": "string"}, definitions={"A": {"type": "integer"}})
    assert codes(schema, x=1) == WRONG
    assert codes({**schema, "$schema": "http://json-schema.org/draft-07/schema#"}, x=1) == []


@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-07/schema#", None])
def test_formats_are_not_enforced(draft):
    schema = of({"type": "string", "format": "date"}, **({"$schema": draft} if draft else {}))
    assert codes(schema, x="tomorrow") == []


def test_a_property_may_be_called_like_a_keyword():
    schema = {"type": "object", "properties": {"type": {"type": "str"}, "nullable": {"type": "bool"}, "required": {}}}
    assert codes(schema, type="a", nullable=True, required=1) == []
    assert codes(schema, type=1) == WRONG
    assert codes(of({"enum": [{"type": "dict"}], "default": {"type": "dict"}}), x={"type": "dict"}) == []


def test_nothing_is_fetched():
    asked: list[str] = []

    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        schema = of({"$ref": f"http://127.0.0.1:{server.server_port}/schema.json"})
        assert codes(schema, x=1) == []
        assert codes({**schema, "$schema": f"http://127.0.0.1:{server.server_port}/meta.json"}, x=1) == []
        server.shutdown()
    assert asked == []


def test_equal_schemas_are_compiled_once():
    assert argument_schema(of({"type": "integer"})) is argument_schema(copy.deepcopy(of({"type": "integer"})))


def test_one_schema_in_many_threads():
    schema = of({"type": "integer", "description": "shared by threads"})
    with ThreadPoolExecutor(8) as pool:
        bad = list(pool.map(lambda n: codes(schema, x=n if n % 2 else str(n)), range(400)))
    assert bad == [WRONG if n % 2 == 0 else [] for n in range(400)]
