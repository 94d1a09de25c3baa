"""The command `environment`, by which programs in any language use the file tools.

  environment NAME [PARAMETER=VALUE...]   PARAMETER:=JSON passes JSON
  environment NAME -                      the arguments are a JSON object on stdin
  environment --help

The result is on stdout, as a program of a user gets it: texts without line numbers, and lists as JSON. Exit codes: 0;
1 the tool failed: the code and the reason are on stderr; 2 the use is wrong; 69 the run has no environment.

It runs with the rights of the program, which could do the same by itself: nothing is masked, and no file is refused
because of its name.
"""

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from ptc_dispatcher.environment.arguments import TEXT, TOOLS  # noqa: E402
from ptc_dispatcher.environment.main import FILE_TOOLS, execute  # noqa: E402
from ptc_dispatcher.environment.paths import HOME, READABLE, Folders  # noqa: E402

WRONG, UNAVAILABLE = 2, 69
VARIABLE = "PTC_ENVIRONMENT"  # set where the run has an environment


def main(words):
    if VARIABLE not in os.environ:
        return UNAVAILABLE, "the run has no environment"
    name = words[0] if words else "--help"
    if name == "--help":
        return 0, "\n".join(f"{tool} {' '.join(f'{each}=...' for each in TOOLS[tool])}" for tool in FILE_TOOLS) + "\n"
    if name not in FILE_TOOLS:
        return WRONG, f"there is no tool {name[:40]}; there are {', '.join(FILE_TOOLS)}"
    try:
        arguments = json.load(sys.stdin.buffer) if words[1:] == ["-"] else dict(map(_argument, words[1:]))
    except (ValueError, RecursionError) as problem:
        return WRONG, f"the arguments are wrong: {problem}"
    text, status = execute({"tool": name, "arguments": arguments, "raw": True}, Folders(HOME, READABLE))
    if status != 0:
        return WRONG if text.startswith("invalid_arguments:") else status, text
    # The text of a file is as it is.
    return status, text if name == "read_file" or text.endswith("\n") else f"{text}\n"


def _argument(word):
    name, separator, text = word.partition("=")
    if not separator:
        raise ValueError(f"{word[:100]!r} is not name=value")
    if name.endswith(":"):
        return name[:-1], json.loads(text)
    is_text = all(members.get(name, TEXT) is TEXT for members in TOOLS.values())
    return name, text if is_text else json.loads(text)


if __name__ == "__main__":
    status, text = main(sys.argv[1:])
    stream = sys.stdout if status == 0 else sys.stderr
    stream.buffer.write((text if status == 0 else f"environment: {text}\n").encode(errors="replace"))
    stream.buffer.flush()
    sys.exit(status)
