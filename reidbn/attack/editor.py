"""What an editor can see of a model file beside its shape, as conditions in the JSON Schema.

Only what stands in one place: a chance above 1, a row of three cells for two states, a beta prior
without its shapes, a number without a source.  What other places decide (an unknown parent, a
circle, a row that does not add up) is for `check` to say.  Nothing that `check` takes is refused.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
# Fields that hold chances: of every number in them is asked that it lies between 0 and 1.
_CHANCES = {
    "Row": ("p",),
    "GroupRow": ("p",),
    "GroupSpec": ("probability",),
    "Probability": ("p",),
    "NoisyOr": ("weights", "leak"),
    "NoisyAnd": ("weights", "leak"),
    "NoisyCopy": ("same",),
    "Mixture": ("weights",),
    "Table": ("p",),
}
_GATES = ("and", "or", "threshold", "noisy-or", "noisy-and", "count", "sum", "max", "minus")
_SAID = r"\S"
_NAME = r"^[^\s\d][^\s]*$"
_REFERENCE = r"^[$@]\S"
_CELL = r"^(rest$|[$@]\S)"
_SPAN = r"^(-?\d+|\$\S+)\.\.(-?\d+|\$\S+)$"
_STEPS = r"^\d+\.\.\d+$"  # a span of whole numbers
_WORD, _PAIR = r"^\w+$", r"^\w+\s*>\s*\w+$"
_BESIDE = r"^(?!/)(?!(.*/)?\.\.(/|$))"  # a name, or a file beside this one
_STATE = r"^[^\s=,;{}\"]([^=,;{}\"]*[^\s=,;{}\"])?$"
_LARGEST = 1.7976931348623157e308
# A number that somebody got from somewhere: 0 and 1 are logic.
_ESTIMATE: Schema = {"type": "number", "not": {"enum": [0, 1]}}
_LIST_OF_ESTIMATES: Schema = {"type": "array", "contains": _ESTIMATE}
_NAMED_ESTIMATES: Schema = {
    "type": "object",
    "not": {"additionalProperties": {"anyOf": [{"type": "string"}, {"enum": [0, 1]}]}},
}


def stricter(schema: Schema) -> Schema:
    """The schema with everything that can be seen in one place."""
    parts = schema["$defs"]
    for name, fields in _CHANCES.items():
        for field in fields if name in parts else ():
            _between_0_and_1(parts[name]["properties"][field])
    for name, field, pattern in (
        ("Row", "p", _CELL),
        ("GroupRow", "p", _REFERENCE),
        ("GroupSpec", "probability", _REFERENCE),
        ("Probability", "p", _REFERENCE),
        ("Mixture", "weights", _CELL),
    ):
        if name != "Probability" or _takes_no_parent(parts[name]):
            _texts_like(parts[name]["properties"][field], pattern)
    _rows(parts["Row"]["properties"]["p"])
    _node(parts["NodeSpec"])
    _parameter(parts["ParameterSpec"])
    _prior(parts["PriorSpec"])
    _decides(parts)
    _also(parts["ColumnSpec"], {"not": {"required": ["per", "each"]}})
    _sourced(parts["GroupSpec"], ("probability", [_ESTIMATE, _LIST_OF_ESTIMATES]))
    _say_something(parts["GroupSpec"]["properties"]["members"]["anyOf"][0])
    parts["QuestionSpec"]["properties"]["target"]["pattern"] = "[=<>]"
    parts["UseSpec"]["properties"]["model"]["pattern"] = _BESIDE
    for kind, field in (("Poisson", "mean"), ("Threshold", "at_least"), ("Empirical", "counts")):
        _not_below(parts[kind]["properties"][field], 1 if kind == "Threshold" else 0)
    _repeat(schema["properties"]["repeat"])
    _whole_file(schema)
    return schema


def _takes_no_parent(part: Schema) -> bool:
    return "parent" not in part["properties"]["p"].get("description", "")


def _also(part: Schema, *conditions: Schema) -> None:
    part.setdefault("allOf", []).extend(conditions)


def _inside(part: Schema) -> list[Schema]:
    """The part, and every schema of what it may hold."""
    found = [part]
    for key in ("items", "additionalProperties"):
        if isinstance(part.get(key), dict):
            found += _inside(part[key])
    for branch in part.get("anyOf", ()):
        found += _inside(branch)
    return found


def _between_0_and_1(part: Schema) -> None:
    for inner in _inside(part):
        if "number" in _types(inner):
            inner |= {"minimum": 0, "maximum": 1}


def _texts_like(part: Schema, pattern: str) -> None:
    for inner in _inside(part):
        if "string" in _types(inner):
            inner["pattern"] = pattern


def _types(part: Schema) -> list[str]:
    found = part.get("type", [])
    return [found] if isinstance(found, str) else found


def _rows(p: Schema) -> None:
    """A list of cells: one rest at most, and one where anything is a reference."""
    rest = {"const": "rest"}
    for branch in p["anyOf"]:
        if branch.get("type") == "array":
            holds = {"contains": {"type": "string", "pattern": _REFERENCE}}
            _also(
                branch,
                {"if": {"contains": rest}, "then": {"contains": rest, "maxContains": 1}},
                {"if": holds, "then": {"contains": rest}},
            )


def _say_something(part: Schema) -> None:
    """A list of names: not empty, and none twice."""
    part |= {"minItems": 1, "uniqueItems": True}


def _node(node: Schema) -> None:
    fields = node["properties"]
    fields["parents"]["uniqueItems"] = True
    states, span = fields["states"]["anyOf"]
    _say_something(states)
    states["items"]["pattern"] = _STATE
    span["pattern"] = _SPAN
    two = {"type": "array", "minItems": 2, "maxItems": 2}
    named = {"type": "object", "propertyNames": {"enum": ["no", "yes"]}}
    yes_no = {"properties": {"rows": {"items": {"properties": {"p": {"anyOf": [two, named]}}}}}}
    some = {"parents": {"minItems": 1}}
    kinds = {"properties": {"cpd": {"properties": {"kind": {"enum": list(_GATES)}},
                                    "required": ["kind"]}}, "required": ["cpd"]}  # fmt: skip
    _also(
        node,
        {"if": {"not": {"required": ["states"]}}, "then": yes_no},
        {
            "if": kinds,
            "then": {"required": ["parents"], "properties": some},
        },
    )
    cells = {"properties": {"p": {"anyOf": [_LIST_OF_ESTIMATES, _NAMED_ESTIMATES]}}}
    _sourced(node, ("rows", [{"type": "array", "contains": {**cells, "required": ["p"]}}]))
    chance = {"type": "object", "properties": {"p": _ESTIMATE}, "required": ["p"]}
    _sourced(node, ("cpd", [chance]))


def _sourced(part: Schema, where: tuple[str, list[Schema]]) -> None:
    """Where a field holds estimates, their source is named."""
    field, estimates = where
    holds = {"properties": {field: {"anyOf": estimates}}, "required": [field]}
    said = {"required": ["source"], "properties": {"source": {"pattern": _SAID}}}
    _also(part, {"if": holds, "then": said})


def _parameter(parameter: Schema) -> None:
    fields = parameter["properties"]
    fields["value"] |= {"minimum": -_LARGEST, "maximum": _LARGEST}
    fields["source"]["pattern"] = _SAID
    share = {"minimum": 0, "maximum": 1}
    ends = {"prefixItems": [share, share]}
    other = {"required": ["unit"], "properties": {"unit": {"not": {"const": "probability"}}}}
    _also(
        parameter,
        {"if": {"not": other}, "then": {"properties": {"value": share, "range": ends}}},
        {"if": {"required": ["value"]}, "then": {"required": ["source"]}},
    )


def _decides(parts: Schema) -> None:
    """Options to choose from, and what they are worth, in numbers that somebody says."""
    decision, utility = parts["DecisionSpec"], parts["UtilitySpec"]
    decision["properties"]["options"] |= {"minItems": 2, "uniqueItems": True}
    decision["properties"]["options"]["items"]["pattern"] = _STATE
    decision["properties"]["sees"]["uniqueItems"] = True
    _not_below(decision["properties"]["temperature"], 0)
    _texts_like(decision["properties"]["temperature"], _REFERENCE)
    warm = [{"type": "number", "exclusiveMinimum": 0, "not": {"const": 1}}]
    _sourced(decision, ("temperature", warm))
    _texts_like(parts["UtilityRow"]["properties"]["value"], _REFERENCE)
    _say_something(utility["properties"]["of"])
    paid = {"properties": {"value": _ESTIMATE}, "required": ["value"]}
    _sourced(utility, ("rows", [{"type": "array", "contains": paid}]))


def _not_below(part: Schema, least: int) -> None:
    for inner in _inside(part):
        if {"number", "integer"} & {*_types(inner)}:
            inner["minimum"] = least


def _repeat(repeat: Schema) -> None:
    """What repeats: words that names are made of, or pairs of them, none twice; or a span."""
    span, words = repeat["additionalProperties"]["anyOf"]
    span["pattern"] = _STEPS
    words |= {"minItems": 1, "uniqueItems": True}
    kinds = [{"items": {"type": ["string", "number"], "pattern": one}} for one in (_WORD, _PAIR)]
    _also(words, {"anyOf": kinds})


def _prior(prior: Schema) -> None:
    fields = prior["properties"]
    for name in ("a", "b"):
        fields[name]["exclusiveMinimum"] = 0
    for kind, needed in (("beta", ["a", "b"]), ("triangular", ["mode"])):
        is_kind = {"properties": {"kind": {"const": kind}}, "required": ["kind"]}
        others = [name for name in ("a", "b", "mode") if name not in needed]
        none = {"not": {"anyOf": [{"required": [name]} for name in others]}}
        _also(prior, {"if": is_kind, "then": {"required": needed, **none}})


def _whole_file(schema: Schema) -> None:
    """Nodes may come from another model; names are names."""
    schema["required"].remove("nodes")
    more = [{"required": [key]} for key in ("nodes", "extends", "use")]
    _also(schema, {"anyOf": more})
    fields = schema["properties"]
    fields["nodes"]["minProperties"] = 1
    _texts_like(fields["excluded"], _SAID)
    for room in ("parameters", "subject", "groups", "nodes", "numbers"):
        fields[room]["propertyNames"] = {"pattern": _NAME}
