"""The dispatcher: runs inside a sandbox, between the host and the programs of several languages.

Standard library only. It uses the step protocol of the Python runner (`../python/ptc_runner/protocol`).

1. The dispatcher has no secret and no authority. It has the user of the programs, so the host checks every frame again.
2. To the host it is one runner: steps and calls are numbered over all languages. To a runner it is a host.
3. A runner that ends, ends the dispatcher and so the sandbox: the host rebuilds it.
4. Any process of the sandbox can call tools by a unix socket. Such a call suspends the cell like one of its code.
5. When a cell has ended, the processes that it has started itself have ended, too. Those of a runner's program stay.

  ptc_dispatcher/session.py     the session: the cell that runs, the result of each step
  ptc_dispatcher/host.py        steps from the host; values that are passed on as text
  ptc_dispatcher/cells/         cells of runners, bash, and commands such as `ruby`
  ptc_dispatcher/tools/         the socket, calls and sleeps of processes, arguments from command lines
  ptc_dispatcher/network/       the only way to the network: connections that the worker carries on
  ptc_dispatcher/processes.py   finds out whether all processes wait

  dispatcher.py JSON            {"python": {"command": [...], "environment": {...}}, "bash": {}, "files": {}}: the first
                                language is the default; `files` is none, but has artifacts reported
"""

import asyncio
import json
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(os.path.dirname(here), "python")]
from ptc_dispatcher.session import Session  # noqa: E402


async def main():
    status = await Session(json.loads(sys.argv[1])).run()
    os._exit(status)  # the sandbox ends with this process: nothing is tidied up


if __name__ == "__main__":
    asyncio.run(main())
