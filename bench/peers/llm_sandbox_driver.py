"""Runs the benchmark's commands with llm-sandbox: reads a command per line and prints its milliseconds."""

import sys
import time

from llm_sandbox import SandboxSession

image, session = sys.argv[1], None


def command(name):
    global session
    if name == "open":
        # The same isolation where llm-sandbox has the setting. Its virtual environment is skipped, to its advantage.
        configs = {"network_mode": "none", "command": "sleep 3600"}
        session = SandboxSession(
            lang="python", image=image, keep_template=True, skip_environment_setup=True, runtime_configs=configs
        )
        session.open()
    elif name == "run":
        result = session.run("print(1 + 1)")
        assert result.stdout.strip() == "2", result
    elif name == "close":
        session.close()


for line in sys.stdin:
    start = time.perf_counter()
    command(line.strip())
    print((time.perf_counter() - start) * 1000, flush=True)
