"""The tools as functions: they are async, take keywords or one dict, and return parsed JSON."""

import asyncio
import builtins
import inspect
import json
import keyword
import re

from .. import errors
from ..protocol.json_codec import dumps, loads_exact

MAXIMUM_STRUCTURAL_BYTES = 256 * 1024  # outside of strings; the host refuses more, for any limit of arguments
_replace_strings = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"').sub


def bind_arguments(signature, positional, named):
    """Returns the arguments of one call as a dict. Raises TypeError like Python."""
    name, parameters = signature["name"], signature["parameters"]
    if len(positional) == 1 and not named and isinstance(positional[0], dict):
        arguments = dict(positional[0])
    else:
        if len(positional) > len(parameters):
            raise TypeError(f"{name}() takes {len(parameters)} arguments but {len(positional)} were given")
        arguments = dict(zip(parameters, positional))
        for key, value in named.items():
            if key in arguments:
                raise TypeError(f"{name}() got multiple values for argument {key!r}")
            arguments[key] = value
    missing = [parameter for parameter in signature["required"] if parameter not in arguments]
    if missing:
        raise TypeError(f"{name}() is missing {', '.join(map(repr, missing))}; it takes ({', '.join(parameters)})")
    return arguments


def encode_arguments(name, arguments, limit):
    """Returns the arguments in the form that the host reads. Raises TypeError or ValueError if they can't be sent."""
    try:
        text = dumps(arguments)
        structure = len(_replace_strings('""', text)) if MAXIMUM_STRUCTURAL_BYTES < len(text) <= limit else 0
        if len(text) <= limit and structure <= MAXIMUM_STRUCTURAL_BYTES:
            return loads_exact(text)  # a copy: later changes by the code are not part of the call
    except (TypeError, ValueError, RecursionError) as problem:
        raise TypeError(f"{name}() takes JSON values only: {problem}") from None
    if structure:
        raise ValueError(
            f"the arguments of {name}() are {structure} bytes outside of strings, "
            f"the limit is {MAXIMUM_STRUCTURAL_BYTES}"
        )
    raise ValueError(f"the arguments of {name}() are {len(text)} bytes, the limit is {limit}")


def make_tool(session, signature):
    name = signature["name"]
    tool_name = signature.get("tool", name)  # the function may have another name, because a tool may be named "sum"

    async def tool(*positional, **named):
        arguments = encode_arguments(
            name, bind_arguments(signature, positional, named), session.limits["argument_bytes"]
        )
        return await session.call(tool_name, arguments)

    tool.__name__ = tool.__qualname__ = name
    tool.__doc__ = signature["documentation"]
    required = set(signature["required"])
    tool.__signature__ = inspect.Signature(
        [
            inspect.Parameter(
                parameter,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if parameter in required else ...,
            )
            for parameter in signature["parameters"]
            if parameter.isidentifier() and not keyword.iskeyword(parameter)  # such as "from": it comes in a dict
        ]
    )
    tool.is_ptc_tool = True
    return tool


# The number of attributes from make_tool: a function with more was changed by the program.
TOOL_ATTRIBUTE_COUNT = len(vars(make_tool(None, {"name": "", "parameters": (), "required": (), "documentation": ""})))


def is_tool(function):
    return function.__code__ in make_tool.__code__.co_consts


def install(session, signatures):
    """Adds tools, error classes and two modules to the builtins: a cell may shadow a name without losing it."""
    names = {"asyncio": asyncio, "json": json}  # usable without an import
    names.update((signature["name"], make_tool(session, signature)) for signature in signatures)
    for error in (errors.ToolError, errors.ToolDenied, errors.ToolTimedOut, errors.ToolOutcomeUnknown):
        names[error.__name__] = error
    vars(builtins).update(names)
    session.builtins.update(names)


def tool_error(tool, outcome):
    """Returns the exception that a failed call raises in the code."""
    error_class = errors.BY_STATUS.get(outcome["status"], errors.ToolError)
    return error_class(outcome.get("message", outcome["status"]), tool, outcome["status"])
