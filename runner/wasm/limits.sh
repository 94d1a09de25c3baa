#!/bin/sh
# Runs a command under limits of the kernel that it cannot raise again.
#   sh limits.sh DATA_KIBIBYTES command argument...
set -eu

# Private writable memory: V8's heap, every WebAssembly memory, every ArrayBuffer, together. The address space (-v) would
# be the wrong limit: V8 reserves gigabytes that it never writes to.
ulimit -d "$1"
shift

ulimit -f 0  # no byte into any file
ulimit -c 0  # no core dumps
ulimit -n 64 # open files
exec "$@"
