"""Process 1 of a sandbox whose connection loses bytes: carries the streams of a runner in numbered packets.

Standard library only. The step protocol and the runners know nothing of it. The host's side, and a description of the
packets, is src/sandbox/resumable/.

1. Each byte of the runner reaches its owner once and in order, also when a connection breaks, or the runner exits.
2. The newest owner counts: packets of any other are ignored.
3. Nothing here blocks: a connection that is not read stops only the runner.
4. The sandbox ends by itself when no owner has sent a packet during its lease, which is shorter before the first byte
   for the runner.
5. Code can't read or trace this process (it is not dumpable), nor stop it (it is process 1).
6. Buffers are bounded, whatever the host and the runner send.

  relay.py --lease SECONDS [--idle-lease SECONDS] --limits JSON -- PROGRAM [ARGUMENT...]
  relay.py --probe JSON

  ptc_relay/packets.py   packets in a stream that may lose, mix and cut bytes
  ptc_relay/stream.py    numbered bytes in both directions, owners; no input and output
  ptc_relay/runner.py    the process of the runner: limits, streams, its end
  ptc_relay/main.py      the loop over descriptors
  files.py               the program of the relay that receives the files of a session
  ptc_relay/probe.py     what a sandbox could reach and do; runs in a sandbox of its own
"""

import os
import sys

# Python is started with -I, so this folder is not in `sys.path`.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

if __name__ == "__main__":
    if sys.argv[1:2] == ["--probe"]:
        from ptc_relay.probe import main
    else:
        from ptc_relay.main import main
    main(sys.argv[1:])
