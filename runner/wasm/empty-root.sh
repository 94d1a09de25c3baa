#!/bin/sh
# Builds a root directory that contains only the named files and folders, read-only and at their own paths, and runs a
# command in it without any privilege.
#   sh empty-root.sh path... -- command argument...
# Must run as (mapped) root of new user and mount namespaces, so that the mounts are invisible outside.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin

# Any directory that exists on every system and contains none of the paths. A new folder would have to be removed later.
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

# A second user namespace, in which the command runs as `nobody`: it has no capability, and can't change the mounts,
# which belong to the first namespace. The new root has no /proc, no /dev, and no socket. In a changed root the kernel
# creates no further user namespaces.
exec unshare --user --map-user=65534 --map-group=65534 --root="$root" --wd=/ -- "$@"
