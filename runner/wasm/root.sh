#!/bin/sh
# Makes a root directory that has nothing in it but the named files and folders, read-only and at their own paths, and runs
# a command there, without any privilege.
#   sh root.sh path... -- command argument...
# To be run as (mapped) root of fresh user and mount namespaces: nothing of this is seen outside.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin

# Any directory that every system has and no path is under will do; a folder of our own would have to be cleaned up.
root=/sys
mount -t tmpfs -o size=256k,mode=755,nosuid,nodev jail "$root"

while [ "$1" != -- ]; do
  if [ -d "$1" ]; then
    mkdir -p "$root$1"
  else
    mkdir -p "$root${1%/*}"
    : >"$root$1"
  fi
  mount --rbind "$1" "$root$1"
  mount -o remount,bind,ro "$root$1"
  shift
done
shift
mount -o remount,ro "$root"

# A second user namespace, in which we are nobody: no capability survives, and the mounts belong to the first one, out of
# reach. There is no /proc, no /dev, no socket of a Docker daemon or of anything else in the new root. Inside a
# changed root the kernel makes no further user namespaces.
exec unshare --user --map-user=65534 --map-group=65534 --root="$root" --wd=/ -- "$@"
