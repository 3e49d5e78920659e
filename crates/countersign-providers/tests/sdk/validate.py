"""Checks JSON documents against the types of the official provider SDKs.

Reads JSON lines {"name", "kind", "value"} on stdin and prints, for each, one line
{"name", "ok", "error"}. A document passes when the SDK's type accepts it in strict mode and keeps every member
of it, so that an unknown, misspelled or coerced member fails.
"""

import collections.abc
import json
import sys
import types
from functools import cache
from typing import Annotated, Any, List, Literal, Union, get_args, get_origin

from anthropic.types import Message, MessageParam
from google.genai._gaos.types.interactions import (
    CreateModelInteraction,
    FunctionResultStep,
    Interaction,
    Step,
    TextContent,
)
from google.genai.types import Content, GenerateContentResponse
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam
from openai.types.responses import Response, ResponseCustomToolCallOutputParam
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import ConfigDict, TypeAdapter
from typing_extensions import NotRequired, Required, TypedDict, get_type_hints, is_typeddict


def main() -> None:
    for line in sys.stdin:
        if not line.strip():
            continue
        case = json.loads(line)
        try:
            CHECKS[case["kind"]](case["value"])
            verdict = {"name": case["name"], "ok": True, "error": None}
        except Exception as error:  # each SDK raises its own types; the verdict is all that counts
            verdict = {"name": case["name"], "ok": False, "error": f"{type(error).__name__}: {error}"[:2000]}
        print(json.dumps(verdict), flush=True)


def model(kind: Any, value: Any, added: frozenset[str] = frozenset()) -> None:
    """The type accepts the document strictly and gives it back; `added` are members the SDK makes up itself."""
    adapter = adapter_of(kind)
    parsed = adapter.validate_json(json.dumps(value), strict=True)
    dumped = adapter.dump_python(parsed, mode="json", by_alias=True, exclude_unset=True, warnings="error")
    same(value, {key: member for key, member in dumped.items() if key in value or key not in added}, "$")


def parameter(kind: Any, value: Any) -> None:
    adapter_of(kind).validate_json(json.dumps(value), strict=True)


def items(kinds: dict[str, Any], value: Any) -> None:
    """Each item against the one type its `type` member names: a union would hide which one it failed."""
    if not isinstance(value, list):
        raise ValueError("not an array")
    for item in value:
        parameter(kinds[item["type"]], item)


def interaction(value: Any) -> None:
    """The SDK wraps steps it cannot read in an open union instead of failing; here they must be readable."""
    model(Interaction, {key: member for key, member in value.items() if key != "object"}, frozenset({"output_text"}))
    for step in value["steps"]:
        if adapter_of(Step).validate_python(step).type == "UNKNOWN":
            raise ValueError(f"unknown step {step!r}")


def interaction_request(value: Any) -> None:
    """A continuation: what we give, and the model name the caller adds."""
    unknown = set(value) - set(CreateModelInteraction.model_fields)
    if unknown:
        raise ValueError(f"unknown members {sorted(unknown)}")
    model(CreateModelInteraction, {"model": "gemini-3.5-flash", **value})
    for step in value["input"]:
        unknown = set(step) - set(FunctionResultStep.model_fields)
        if unknown:
            raise ValueError(f"unknown members {sorted(unknown)}")
        model(FunctionResultStep, step)
        for content in step["result"]:
            model(TextContent, content)


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(exact(kind))


def exact(kind: Any) -> Any:
    """The same type with unknown members forbidden at every level, and arrays checked at once instead of lazily."""
    if is_typeddict(kind):
        return exact_dictionary(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is None or origin is Literal:
        return kind
    if origin in (collections.abc.Iterable, collections.abc.Sequence):
        return List[exact(arguments[0])]
    if origin in (Union, types.UnionType):
        return Union[tuple(exact(argument) for argument in arguments)]
    if origin is Annotated:
        return kind
    if origin in (Required, NotRequired):
        return origin[exact(arguments[0])]
    return origin[tuple(exact(argument) for argument in arguments)]


@cache
def exact_dictionary(kind: Any) -> Any:
    # Not `__required_keys__`: with postponed annotations it does not see `Required`.
    hints = get_type_hints(kind, include_extras=True)
    members = {name: marker(kind, hint)[exact(bare(hint))] for name, hint in hints.items()}
    dictionary = TypedDict(kind.__name__, members)  # type: ignore[operator]
    dictionary.__pydantic_config__ = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)
    return dictionary


def marker(kind: Any, hint: Any) -> Any:
    if get_origin(hint) in (Required, NotRequired):
        return get_origin(hint)
    return Required if kind.__total__ else NotRequired


def bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) in (Required, NotRequired) else hint


def same(given: Any, kept: Any, path: str) -> None:
    if isinstance(given, dict) and isinstance(kept, dict):
        if set(given) != set(kept):
            raise ValueError(f"{path}: members differ: {sorted(set(given) ^ set(kept))}")
        for key in given:
            same(given[key], kept[key], f"{path}.{key}")
    elif isinstance(given, list) and isinstance(kept, list):
        if len(given) != len(kept):
            raise ValueError(f"{path}: {len(given)} items given, {len(kept)} kept")
        for index, (one, other) in enumerate(zip(given, kept)):
            same(one, other, f"{path}[{index}]")
    elif given != kept or isinstance(given, bool) != isinstance(kept, bool):
        raise ValueError(f"{path}: {given!r} became {kept!r}")


CHECKS = {
    "openai-responses.response": lambda value: model(Response, value),
    "openai-responses.input": lambda value: items(
        {"function_call_output": FunctionCallOutput, "custom_tool_call_output": ResponseCustomToolCallOutputParam},
        value,
    ),
    "openai-chat-completions.response": lambda value: model(ChatCompletion, value),
    "openai-chat-completions.messages": lambda value: parameter(List[ChatCompletionMessageParam], value),
    "anthropic-messages.response": lambda value: model(Message, value),
    "anthropic-messages.message": lambda value: parameter(MessageParam, value),
    "gemini-interactions.response": interaction,
    "gemini-interactions.request": interaction_request,
    "gemini-generate-content.response": lambda value: model(GenerateContentResponse, value),
    "gemini-generate-content.content": lambda value: model(Content, value),
}

if __name__ == "__main__":
    main()
