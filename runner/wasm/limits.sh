#!/bin/sh
# Runs a command under kernel limits that it can't raise.
#   sh limits.sh DATA_KIBIBYTES command argument...
set -eu

# Private writable memory: the sum of V8's heap, all WebAssembly memories and all ArrayBuffers. A limit of the address
# space (-v) would not work: V8 reserves gigabytes that it never writes to.
ulimit -d "$1"
shift

ulimit -f 0  # no writes to files
ulimit -c 0  # no core dumps
ulimit -n 64 # open files
exec "$@"
