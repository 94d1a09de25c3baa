# shellcheck shell=bash
# Docker on a bare Debian: engine, daemon, base image. Sourced by .ci/run, which defines progress, fail and $cache.

dockerd_pid=
dockerd_folder=
dockerd_log=
# gVisor, and its checkpoints, which Docker calls experimental. A sandbox has no network, so gVisor needs none of its
# own.
dockerd_configuration='{ "experimental": true, "runtimes": { "runsc": { "path": "runsc", "runtimeArgs": ["--network=none"] } } }'

docker_answers() {
  timeout -k 5 10 docker version >/dev/null 2>&1
}

# Installs missing packages. Updates the package lists once, if needed.
install_missing() {
  local command package missing=()
  for command in "$@"; do
    package=${command#*:}
    command -v "${command%%:*}" >/dev/null || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  [ "$(id -u)" = 0 ] || fail "missing: ${missing[*]}. Run as root, or install them first."
  progress "installing ${missing[*]}"
  if [ -z "${package_lists_fresh:-}" ]; then
    timeout -k 10 180 apt-get update -qq >&2 || fail 'apt-get update failed'
    package_lists_fresh=yes
  fi
  DEBIAN_FRONTEND=noninteractive timeout -k 10 300 \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 || fail "could not install ${missing[*]}"
}

# Uses a running daemon unchanged. Otherwise starts one with gVisor, which stop_docker stops.
start_docker() {
  docker_answers && return
  install_missing dockerd:docker.io docker:docker.io iptables:iptables
  docker_answers && return
  [ "$(id -u)" = 0 ] || fail 'no Docker daemon answers. Start one, or run as root and one is started.'
  install_missing runsc:runsc
  export PTC_TEST_GVISOR=required
  dockerd_folder=$(mktemp -d)
  dockerd_log=$dockerd_folder/log
  progress "starting dockerd (log: $dockerd_log)"
  # A pid file of a machine image or a killed daemon would prevent the start.
  if [ -f /var/run/docker.pid ] && ! kill -0 "$(cat /var/run/docker.pid)" 2>/dev/null; then rm -f /var/run/docker.pid; fi
  printf '%s\n' "$dockerd_configuration" >"$dockerd_folder/daemon.json"
  # containerd leaves unpacked checkpoints in its TMPDIR.
  TMPDIR=$dockerd_folder dockerd --config-file "$dockerd_folder/daemon.json" >"$dockerd_log" 2>&1 &
  dockerd_pid=$!
  local deadline=$((SECONDS + 90))
  until docker_answers; do
    kill -0 "$dockerd_pid" 2>/dev/null || { tail -n 20 "$dockerd_log" >&2; fail 'dockerd ended while it started'; }
    [ $SECONDS -lt $deadline ] || { tail -n 20 "$dockerd_log" >&2; fail 'dockerd does not answer after 90 s'; }
    sleep 0.5
  done
}

stop_docker() {
  [ -n "$dockerd_pid" ] || return 0
  kill "$dockerd_pid" 2>/dev/null || return 0
  local deadline=$((SECONDS + 30))
  while kill -0 "$dockerd_pid" 2>/dev/null; do
    if [ $SECONDS -ge $deadline ]; then kill -9 "$dockerd_pid" 2>/dev/null; fi
    sleep 0.2
  done
  rm -rf "$dockerd_folder"
}

# Makes a Debian image without a registry, by debootstrap. A cached tarball makes the next run fast.
make_base_image() {
  local image=$1 suite=$2 tarball
  tarball="${cache:?}/base-$suite-$(dpkg --print-architecture).tar.gz"
  docker image inspect "$image" >/dev/null 2>&1 && return
  if ! checksum_matches "$tarball"; then
    install_missing debootstrap:debootstrap
    [ "$(id -u)" = 0 ] || fail 'debootstrap needs root. Set PTC_BASE_IMAGE to a Debian image instead.'
    debootstrap_to "$tarball" "$suite"
  fi
  progress "importing $image"
  gzip -dc "$tarball" | timeout -k 10 180 docker import - "$image" >&2 || fail "could not import $tarball"
}

# An interrupted run may leave a partial tarball, so its digest is written last.
checksum_matches() {
  [ -s "$1" ] && [ -s "$1.sha256" ] && [ "$(sha256sum <"$1")" = "$(cat "$1.sha256")" ]
}

debootstrap_to() {
  local tarball=$1 suite=$2 work
  progress "making a Debian $suite with debootstrap"
  work=$(mktemp -d)
  rm -f "$tarball" "$tarball.sha256"
  timeout -k 10 420 debootstrap --variant=minbase --include=ca-certificates "$suite" "$work/root" >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    rm -rf "$work"
    fail 'debootstrap failed'
  }
  (cd "$work/root" && rm -rf var/cache/apt/archives/*.deb var/lib/apt/lists/*)
  tar -C "$work/root" -c . | gzip -1 >"$tarball.$$"
  rm -rf "$work"
  mv "$tarball.$$" "$tarball"
  sha256sum <"$tarball" >"$tarball.sha256"
}

# Imports an image with only the program of Node.js, from the npm package of its authors.
make_node_image() {
  local image=$1 version=$2 folder
  docker image inspect "$image" >/dev/null 2>&1 && return
  folder=$(mktemp -d)
  progress "importing $image"
  (
    cd "$folder"
    timeout -k 10 300 npm pack --silent "node-linux-$(node -p process.arch)@$version" >/dev/null
    tar -xzf ./*.tgz
    mkdir -p root/usr/local/bin
    mv package/bin/node root/usr/local/bin/
    tar -C root -c . | timeout -k 10 180 docker import - "$image"
  ) >&2 || fail "could not import $image"
  rm -rf "$folder"
}
