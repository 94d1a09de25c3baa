"""Puts the files of a session into a folder, before its runner starts in the next container of the pod.

Reads the length of an archive (8 bytes), and the archive, which a worker has made. The folder is read-only for the
runner.

  files.py FOLDER
"""

import io
import struct
import sys
import tarfile

if __name__ == "__main__":
    (length,) = struct.unpack(">Q", sys.stdin.buffer.read(8))
    with tarfile.open(fileobj=io.BytesIO(sys.stdin.buffer.read(length))) as archive:
        archive.extractall(sys.argv[1])
