"""The arguments of each tool, and the check of what a model has sent. The schemas that the model gets say the same."""

from .failures import EnvironmentFailure

TEXT, FLAG, COUNT, SECONDS = "a text", "true or false", "a whole number from 1", "a number above 0"

_IS = {
    TEXT: lambda value: type(value) is str,
    FLAG: lambda value: type(value) is bool,
    COUNT: lambda value: type(value) is int and 1 <= value <= 10**9,
    SECONDS: lambda value: type(value) in (int, float) and 0 < value <= 10**6,
}

# Members of each tool; those of `REQUIRED` must be there.
TOOLS = {
    "execute_command": {"command": TEXT, "timeout_seconds": SECONDS},
    "read_file": {"path": TEXT, "first_line": COUNT, "line_count": COUNT},
    "write_file": {"path": TEXT, "content": TEXT},
    "edit_file": {"path": TEXT, "old_text": TEXT, "new_text": TEXT, "replace_all": FLAG},
    "list_files": {"path": TEXT, "depth": COUNT},
    "grep": {"pattern": TEXT, "path": TEXT, "glob": TEXT, "ignore_case": FLAG},
}
REQUIRED = {
    "execute_command": ("command",),
    "read_file": ("path",),
    "write_file": ("path", "content"),
    "edit_file": ("path", "old_text", "new_text"),
    "list_files": (),
    "grep": ("pattern",),
}


def check_arguments(tool, arguments):
    """Raises EnvironmentFailure for arguments that the tool does not take."""
    if type(tool) is not str:
        raise EnvironmentFailure("invalid_arguments", "no tool is named")
    members = TOOLS.get(tool)
    if members is None:
        raise EnvironmentFailure("invalid_arguments", f"there is no tool {tool[:40]}")
    if type(arguments) is not dict:
        raise EnvironmentFailure("invalid_arguments", f"the arguments of {tool} are a JSON object")
    for name, value in arguments.items():
        if name not in members:
            raise EnvironmentFailure("invalid_arguments", f"{tool} has no {name[:40]}; it takes {', '.join(members)}")
        if not _IS[members[name]](value):
            raise EnvironmentFailure("invalid_arguments", f"{name} of {tool} is {members[name]}")
    missing = [name for name in REQUIRED[tool] if name not in arguments]
    if missing:
        raise EnvironmentFailure("invalid_arguments", f"{tool} is missing {', '.join(missing)}")
