"""Executes programs of environment tools with the code of the dispatcher. stdin: a JSON object; stdout: a JSON list.

  {"home": "/folder", "readable": ["/other"], "programs": [{"tool": "read_file", "arguments": {...}}, ...]}
  {"commands": ["rm -rf /"]}       why each command is refused, or null
  {"texts": ["password=..."]}      each text without keys and passwords
"""

import json
import os
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "runner")
sys.path[:0] = [os.path.join(root, "dispatcher"), os.path.join(root, "python")]
sys.dont_write_bytecode = True
from ptc_dispatcher.environment.commands import problem_of_command  # noqa: E402
from ptc_dispatcher.environment.main import execute  # noqa: E402
from ptc_dispatcher.environment.paths import Folders  # noqa: E402
from ptc_dispatcher.environment.secret_texts import mask_secrets  # noqa: E402

request = json.load(sys.stdin)
if "commands" in request:
    answer = [problem_of_command(command) for command in request["commands"]]
elif "texts" in request:
    answer = [mask_secrets(text) for text in request["texts"]]
else:
    folders = Folders(request["home"], request["readable"])
    answer = [execute(program, folders) for program in request["programs"]]
json.dump(answer, sys.stdout)
