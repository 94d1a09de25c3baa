#!/usr/bin/env bash
# A Kubernetes with one node on this machine, for tests. It shares nothing with a Docker daemon: containerd is its own.
#
#   cluster.sh up FOLDER BINARY PAUSE      prints the path of the kubeconfig of an administrator
#   cluster.sh start FOLDER PROGRAM        starts a program of the cluster that was killed, and waits until it answers
#   cluster.sh down FOLDER
#
# Needs root, and Debian's packages containerd, runc, containernetworking-plugins, iproute2, openssl and kubectl.
# Everything listens on free ports of 127.0.0.1. Pods have an address on a bridge without a route: they reach nothing.
set -euo pipefail

folder=$2
ctr=(ctr --address "$folder/containerd.sock" --namespace k8s.io)
# What a cluster has for itself, so that several run side by side: a bridge, a network, a folder of cgroups, ports.
# shellcheck disable=SC1091
if [ -f "$folder/own" ]; then source "$folder/own"; fi
changed_sysctls=(vm.overcommit_memory kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys
  kernel.keys.root_maxbytes net.ipv4.ip_forward)

wait_for() {
  local seconds=$1
  shift
  local deadline=$((SECONDS + seconds))
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || { printf 'no success within %s s: %s\n' "$seconds" "$*" >&2; return 1; }
    sleep 0.1
  done
}

as_admin() { kubectl --kubeconfig "$folder/pki/admin.kubeconfig" "$@"; }

start() {
  local name=$1
  shift
  setsid "$@" >>"$folder/log/$name" 2>&1 </dev/null &
  echo $! >"$folder/pid/$name"
}

certificate() {
  local name=$1 subject=$2 names=${3:-}
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$subject" -keyout "$name.key" -out "$name.csr"
  openssl x509 -req -in "$name.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out "$name.crt" -extfile <(
    printf 'keyUsage=digitalSignature\nextendedKeyUsage=serverAuth,clientAuth\n'
    [ -z "$names" ] || printf 'subjectAltName=%s\n' "$names"
  )
}

kubeconfig() {
  cat >"$1.kubeconfig" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$api", certificate-authority: $folder/pki/ca.crt}}]
users: [{name: $1, user: {client-certificate: $folder/pki/$1.crt, client-key: $folder/pki/$1.key}}]
contexts: [{name: test, context: {cluster: test, user: $1}}]
current-context: test
YAML
}

make_keys() {
  cd "$folder/pki"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=ca -keyout ca.key -out ca.crt
  certificate api /CN=kube-apiserver "DNS:kubernetes,DNS:kubernetes.default,DNS:localhost,IP:127.0.0.1,IP:10.96.0.1"
  certificate api-client "/O=system:masters/CN=kubelet-client"
  certificate node "/O=system:nodes/CN=system:node:localhost" "DNS:localhost,IP:127.0.0.1"
  certificate admin "/O=system:masters/CN=admin"
  certificate controllers /CN=system:kube-controller-manager
  certificate scheduler /CN=system:kube-scheduler
  openssl genrsa -out accounts.key 2048
  openssl rsa -in accounts.key -pubout -out accounts.pub
  local name
  for name in admin node controllers scheduler; do kubeconfig "$name"; done
}

# Chooses what the cluster has for itself.
choose_own() {
  python3 - >"$folder/own" <<'PYTHON'
import os, socket

names = ("etcd", "peer", "api", "kubelet", "controllers", "scheduler")
# All are open at the same time, so that they differ.
opened = [socket.socket() for _ in names]
for each in opened:
    each.bind(("127.0.0.1", 0))
print(*(f"{name}={each.getsockname()[1]}" for name, each in zip(names, opened)))
number = os.urandom(3).hex()
print(f"bridge=ptc{number} cgroup=ptc{number} network=10.{128 + os.urandom(1)[0] % 96}.{os.urandom(1)[0]}.0/24")
PYTHON
  # shellcheck disable=SC1091
  source "$folder/own"
  local hierarchy
  for hierarchy in $(cgroup_hierarchies); do mkdir -p "$hierarchy/$cgroup"; done
  # Without processors and memory of its own, a group takes no process.
  if [ -d "/sys/fs/cgroup/cpuset/$cgroup" ]; then
    cat /sys/fs/cgroup/cpuset/cpuset.cpus >"/sys/fs/cgroup/cpuset/$cgroup/cpuset.cpus"
    cat /sys/fs/cgroup/cpuset/cpuset.mems >"/sys/fs/cgroup/cpuset/$cgroup/cpuset.mems"
  fi
}

# The folders of all hierarchies: those of cgroup v1, and that of cgroup v2, which may be there beside them.
cgroup_hierarchies() { awk '$3 == "cgroup" || $3 == "cgroup2" {print $2}' /proc/mounts; }

write_configuration() {
  cat >"$folder/cni/10-none.conflist" <<JSON
{"cniVersion": "0.4.0", "name": "none", "plugins": [{"type": "bridge", "bridge": "$bridge", "isGateway": false, "ipMasq": false,
  "ipam": {"type": "host-local", "dataDir": "$folder/cni-addresses", "ranges": [[{"subnet": "$network"}]]}}]}
JSON
  # Tests add plugins.
  mkdir -p "$folder/cni-bin"
  ln -s /usr/lib/cni/* "$folder/cni-bin"
  cat >"$folder/containerd.toml" <<TOML
version = 2
root = "$folder/containerd/root"
state = "$folder/containerd/state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper"]
[grpc]
  address = "$folder/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/local/pause:1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$folder/cni-bin"
    conf_dir = "$folder/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
TOML
  cat >"$folder/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
port: $kubelet
healthzPort: 0
readOnlyPort: 0
authentication: {anonymous: {enabled: false}, webhook: {enabled: false}, x509: {clientCAFile: $folder/pki/ca.crt}}
authorization: {mode: AlwaysAllow}
tlsCertFile: $folder/pki/node.crt
tlsPrivateKeyFile: $folder/pki/node.key
cgroupDriver: cgroupfs
cgroupRoot: /$cgroup
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix://$folder/containerd.sock
makeIPTablesUtilChains: false
podLogsDir: $folder/podlogs
volumePluginDir: $folder/plugins
staticPodPath: ""
resolvConf: ""
evictionHard: {memory.available: 100Mi, nodefs.available: "1%", imagefs.available: "1%"}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
serializeImagePulls: false
maxPods: 60
YAML
}

# The image of the process that keeps the namespaces of a pod: a single static program.
import_pause() {
  python3 - "$1" "$folder/pause.tar" <<'PYTHON'
import hashlib, io, json, sys, tarfile

program, target = sys.argv[1:]
layer = io.BytesIO()
with tarfile.open(fileobj=layer, mode="w") as archive:
    archive.add(program, "pause")
layer = layer.getvalue()
config = json.dumps({
    "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[__import__("platform").machine()],
    "os": "linux",
    "config": {"Entrypoint": ["/pause"]},
    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
}).encode()
manifest = json.dumps([{"Config": "config.json", "RepoTags": ["docker.io/local/pause:1"], "Layers": ["layer.tar"]}])
with tarfile.open(target, "w") as archive:
    for name, content in (("layer.tar", layer), ("config.json", config), ("manifest.json", manifest.encode())):
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
PYTHON
  "${ctr[@]}" images import "$folder/pause.tar"
}

is_node_ready() {
  [ "$(as_admin get node localhost -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]
}

# The programs of the cluster. Each may be killed and started again.
start_program() {
  local binary pki=$folder/pki
  binary=$(cat "$folder/binary")
  case $1 in
    etcd)
      start etcd "$binary" etcd --data-dir "$folder/etcd" --unsafe-no-fsync \
        --listen-client-urls http://127.0.0.1:$etcd --advertise-client-urls http://127.0.0.1:$etcd \
        --listen-peer-urls http://127.0.0.1:$peer --initial-advertise-peer-urls http://127.0.0.1:$peer \
        --initial-cluster default=http://127.0.0.1:$peer
      ;;
    containerd) start containerd containerd --config "$folder/containerd.toml" ;;
    api)
      start api "$binary" kube-apiserver --etcd-servers=http://127.0.0.1:$etcd --bind-address=127.0.0.1 \
        --advertise-address=192.0.2.2 --secure-port=$api --endpoint-reconciler-type=none \
        --tls-cert-file="$pki/api.crt" --tls-private-key-file="$pki/api.key" --client-ca-file="$pki/ca.crt" \
        --kubelet-certificate-authority="$pki/ca.crt" --kubelet-client-certificate="$pki/api-client.crt" \
        --kubelet-client-key="$pki/api-client.key" --kubelet-preferred-address-types=Hostname,InternalIP \
        --service-account-key-file="$pki/accounts.pub" --service-account-signing-key-file="$pki/accounts.key" \
        --service-account-issuer=https://kubernetes.default.svc --service-cluster-ip-range=10.96.0.0/16 \
        --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction
      ;;
    controllers)
      start controllers "$binary" kube-controller-manager --kubeconfig="$pki/controllers.kubeconfig" \
        --authentication-kubeconfig="$pki/controllers.kubeconfig" \
        --authorization-kubeconfig="$pki/controllers.kubeconfig" \
        --service-account-private-key-file="$pki/accounts.key" --root-ca-file="$pki/ca.crt" \
        --use-service-account-credentials --leader-elect=false --bind-address=127.0.0.1 --secure-port=$controllers
      ;;
    scheduler)
      start scheduler "$binary" kube-scheduler --kubeconfig="$pki/scheduler.kubeconfig" \
        --authentication-kubeconfig="$pki/scheduler.kubeconfig" \
        --authorization-kubeconfig="$pki/scheduler.kubeconfig" \
        --leader-elect=false --bind-address=127.0.0.1 --secure-port=$scheduler
      ;;
    kubelet)
      start kubelet "$binary" kubelet --config="$folder/kubelet.yaml" --kubeconfig="$pki/node.kubeconfig" \
        --root-dir="$folder/kubelet" --cert-dir="$folder/kubelet/pki" --hostname-override=localhost
      ;;
    *) return 2 ;;
  esac
}

is_port_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

await_program() {
  case $1 in
    etcd) wait_for 60 is_port_open $etcd ;;
    containerd) wait_for 60 "${ctr[@]}" version ;;
    api) wait_for 60 as_admin get --raw /readyz ;;
    controllers) wait_for 60 is_port_open $controllers ;;
    scheduler) wait_for 60 is_port_open $scheduler ;;
    kubelet) wait_for 60 is_port_open $kubelet && wait_for 60 is_node_ready ;;
  esac
}

up() {
  local binary=$1 pause=$2
  mkdir -p "$folder"/{pki,etcd,log,pid,kubelet,cni,containerd}
  sysctl -e "${changed_sysctls[@]}" >"$folder/sysctls"
  choose_own
  (make_keys) >"$folder/log/keys" 2>&1
  write_configuration
  echo "$binary" >"$folder/binary"
  mkdir -p "$folder/kubelet/seccomp"
  cp "$(dirname "${BASH_SOURCE[0]}")/../../../runner/image/seccomp.json" "$folder/kubelet/seccomp/durable-ptc.json"
  start_program etcd
  start_program containerd
  start_program api
  # The others give up when the API server does not answer in time.
  await_program api
  start_program controllers
  start_program scheduler
  await_program containerd
  import_pause "$pause" >"$folder/log/images"
  start_program kubelet
  await_program kubelet
  wait_for 30 as_admin get serviceaccount default
  echo "$folder/pki/admin.kubeconfig"
}

end() {
  local name pid
  for name in "$@"; do
    [ -f "$folder/pid/$name" ] || continue
    pid=$(cat "$folder/pid/$name")
    kill "$pid" 2>/dev/null || continue
    wait_for 5 is_ended "$pid" || kill -9 "$pid"
  done
}

is_ended() { ! kill -0 "$1"; }

down() {
  set +e
  # Pods are removed by the cluster, or their processes stay.
  as_admin delete pods --all --all-namespaces --grace-period=1 --timeout=30s >/dev/null 2>&1
  sleep 2.5
  end scheduler controllers kubelet
  local container
  for container in $("${ctr[@]}" tasks ls -q 2>/dev/null); do "${ctr[@]}" tasks kill -s KILL "$container"; done
  sleep 1
  for container in $("${ctr[@]}" tasks ls -q 2>/dev/null); do "${ctr[@]}" tasks rm -f "$container"; done
  for container in $("${ctr[@]}" containers ls -q 2>/dev/null); do "${ctr[@]}" containers rm "$container"; done
  end api etcd containerd
  local mount namespace
  awk -v folder="$folder/" 'index($2, folder) == 1 {print $2}' /proc/mounts | sort -r | while read -r mount; do umount -l "$mount"; done
  # The network namespaces of its pods that are left have an address of its network.
  for namespace in $(ip netns list 2>/dev/null | awk '/^cni-/ {print $1}'); do
    ip -netns "$namespace" -brief address | grep -qF " ${network%0/24}" || continue
    ip netns pids "$namespace" | grep -q . || ip netns delete "$namespace"
  done
  ip link delete "$bridge" 2>/dev/null
  for container in $(cgroup_hierarchies); do
    [ -d "$container/$cgroup" ] && find "$container/$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
  done
  # Of pods that reach this machine: see routed-namespace.sh.
  ip link delete "${bridge}r" 2>/dev/null
  sysctl -q -p "$folder/sysctls"
  rm -rf "$folder"
}

case $1 in
  up) up "$3" "$4" ;;
  start)
    start_program "$3"
    await_program "$3"
    ;;
  down) down ;;
  *) exit 2 ;;
esac
