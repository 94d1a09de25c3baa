"""Arguments of a command line, `name=value`, and the help, by the JSON Schemas of tools.

| written        | value                                                                                            |
|----------------|--------------------------------------------------------------------------------------------------|
| `name=text`    | by the schema of the parameter: a text, or a number, boolean, null, array or object in JSON      |
| `name:=JSON`   | JSON, whatever the schema says                                                                   |
| several times  | the values as a list, for a parameter that is an array                                           |
"""

import json

from .requests import ToolFailure

TEXT = "string"


def arguments_of(signature, words):
    """Returns the arguments for the words of a command line."""
    properties = signature.get("schema", {}).get("properties", {})
    arguments = {}
    for word in words:
        name, separator, text = word.partition("=")
        if not separator:
            raise ToolFailure("invalid_arguments", f"{word[:100]!r} is not an argument: write name=value")
        is_json = name.endswith(":")
        name = name[:-1] if is_json else name
        types = types_of(properties.get(name, {}))
        value = parsed(name, text) if is_json else converted(name, text, types)
        if name in arguments and "array" in types:
            before = arguments[name]
            arguments[name] = [*(before if type(before) is list else [before]), value]
        elif name in arguments:
            raise ToolFailure("invalid_arguments", f"{name} is given twice")
        else:
            arguments[name] = [value] if types == {"array"} and type(value) is not list else value
    return arguments


def converted(name, text, types):
    """A text stays one when the schema allows a text, or says nothing about types."""
    if not types or TEXT in types:
        return text
    try:
        return json.loads(text)
    except ValueError:
        if "array" in types:  # one item of it
            return text
        raise ToolFailure(
            "invalid_arguments", f"{name} is {text[:100]!r}, and has to be {' or '.join(sorted(types))}"
        ) from None


def parsed(name, text):
    try:
        return json.loads(text)
    except ValueError as problem:
        raise ToolFailure("invalid_arguments", f"{name} is not JSON: {problem}") from None


def types_of(schema):
    """Returns the names of the types that a schema allows; none when it does not say so."""
    if type(schema) is not dict:
        return set()
    if "type" in schema:
        found = schema["type"]
        return set(found) if type(found) is list else {found}
    values = schema["enum"] if type(schema.get("enum")) is list else [schema["const"]] if "const" in schema else []
    if values:
        return {TEXT if type(value) is str else "integer" for value in values}
    alternatives = [types_of(part) for key in ("anyOf", "oneOf") for part in schema.get(key, [])]
    return set().union(*alternatives) if all(alternatives) else set()


def summary_of(signature):
    return signature.get("description", signature["documentation"]).strip().partition("\n")[0]


def list_of(signatures):
    width = max((len(signature["name"]) for signature in signatures), default=0)
    lines = [f"  {signature['name']:<{width}}  {summary_of(signature)}".rstrip() for signature in signatures]
    return "\n".join(
        (
            "Usage: tool NAME [PARAMETER=VALUE...]   the result is JSON on stdout",
            "       tool NAME -                      the arguments are a JSON object on stdin",
            "       tool NAME --help",
            "",
            *lines,
            "",
        )
    )


def help_of(signature):
    """Returns the help of one tool."""
    schema = signature.get("schema", {})
    properties = schema.get("properties", {})
    lines = [f"Usage: tool {signature['name']}" + "".join(_usage(name, signature) for name in signature["parameters"]), ""]
    lines += [signature.get("description", signature["documentation"]).strip(), ""]
    for name in signature["parameters"]:
        shown = properties.get(name, {})
        shown = shown if type(shown) is dict else {}
        types = " or ".join(sorted(types_of(shown)))
        required = "" if name in signature["required"] else ", optional"
        text = str(shown.get("description", "")).strip().replace("\n", " ")
        lines.append(f"  {name}  {types or 'any JSON'}{required}{': ' if text else ''}{text}")
        if type(shown.get("enum")) is list:
            lines.append(f"      one of {', '.join(json.dumps(value, ensure_ascii=False) for value in shown['enum'][:50])}")
    return "\n".join((*lines, ""))


def _usage(name, signature):
    return f" {name}=..." if name in signature["required"] else f" [{name}=...]"
