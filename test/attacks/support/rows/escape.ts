import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AttackedSandbox, type AttackEnvironment, canaryPrefix, type StartAttacks } from '../attack-environment.js'
import { findDescriptors, kernelFiles, rootOfInit, syscallHelpers } from '../hostile-code.js'
import { systemCalls } from '../system-calls.js'

const deniedErrno = /^(EROFS|EACCES|EPERM|ENOENT|ENXIO|ENODEV|EINVAL|ENOTDIR|EMFILE)$/

/** A Python list literal of these strings. */
const pythonList = (texts: readonly string[]): string => JSON.stringify(texts)

/** Numbers of system calls for x86-64. On another machine the other parts of each row still hold. */
const x64 = process.arch === 'x64'

/** A10 to A20: a hostile program that tries to escape. */
export function escapeRows(start: StartAttacks, sandbox: AttackedSandbox = 'container'): void {
  let attackEnv: AttackEnvironment
  beforeAll(async () => {
    attackEnv = await start()
  })
  afterAll(() => attackEnv.close())

  const probe = (source: string) => attackEnv.probe(syscallHelpers + source)

  it('A10 a hostile program can write only /tmp', async () => {
    const paths = [
      '/x',
      '/etc/x',
      '/usr/x',
      '/run/x',
      '/opt/durable-ptc/python/runner.py',
      '/dev/x',
      '/dev/shm/x',
      '/dev/mqueue/x',
    ]
    const more = [
      '/proc/sys/kernel/hostname',
      '/proc/sys/x',
      '/sys/x',
      '/sys/fs/cgroup/x',
      '/etc/passwd',
      '/usr/bin/python3',
    ]
    const answers = await probe(
      `for path in ${pythonList([...paths, ...more])}: print(write(path))\nprint(write("/tmp/x"))`,
    )
    for (const [index, answer] of answers.slice(0, -1).entries()) {
      expect(answer, [...paths, ...more][index]).toMatch(deniedErrno)
    }
    expect(answers).toHaveLength(paths.length + more.length + 1)
    expect(answers.at(-1)).toBe('done')
    const writable = await probe(`
for folder, _, _ in os.walk("/"):
    if folder.startswith(("/proc/", "/sys/")): continue
    if os.access(folder, os.W_OK) and attempt(os.mknod, folder + "/probe") == "done": print(folder)
print("end")
`)
    expect(writable).toEqual(['/tmp', 'end'])
  })

  it('A11 a hostile program has no privilege, and finds no program that grants one', async () => {
    const answers = await probe(`
fields = dict(line.split(":", 1) for line in open("/proc/self/status"))
for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"): print(int(fields[name], 16))
print(subprocess.run(["find", "/", "-xdev", "-type", "f", "-perm", "/6000"], capture_output=True, text=True).stdout.split())
print(os.getuid() >= 1_000, os.getgroups(), attempt(os.setuid, 0), attempt(os.setgid, 0))
print([subprocess.run([each], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0 for each in ("su", "newgrp")])
`)
    expect(answers.slice(0, 7)).toEqual(['0', '0', '0', '0', '0', '1', '2'])
    expect(answers[7]).toBe('[]')
    expect(answers[8]).toMatch(/^True \[[^,]*\] EPERM EPERM$/)
    // newgrp to the own group starts a shell, and grants no rights.
    expect(answers[9]).toMatch(/^\[False, /)
  })

  it.runIf(x64).each(Object.entries(systemCalls))('%s', async (_row, rows) => {
    const systemCallProgram = rows.map(([, number, rest]) => `print(syscall(${number}, ${rest}))`).join('\n')
    const answers = await probe(systemCallProgram)
    expect(answers.map((answer, index) => [rows[index]?.[0], answer])).toEqual(
      rows.map(([name]) => [name, expect.stringMatching(/^(EPERM|ENOSYS)$/)]),
    )
  })

  it('A14 a hostile program can create only IP sockets and Unix sockets', async () => {
    const answers = await probe(`
for family, kind, protocol in ((40, 1, 0), (38, 5, 0), (17, 3, 0), (17, 2, 0), (16, 3, 0), (15, 3, 2), (2, 3, 1), (10, 3, 58), (2, 3, 255)):
    print(attempt(socket.socket, family, kind, protocol))
`)
    expect(answers).toEqual(
      Array.from({ length: 9 }, () => expect.stringMatching(/^(EPERM|EAFNOSUPPORT|EPROTONOSUPPORT)$/)),
    )
  })

  it('A15 a hostile program has no network: no metadata service, bridge, host or resolver', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.destroy()
    }).listen(0, '0.0.0.0')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    try {
      const answers = await probe(`
def connect(host, port, family=socket.AF_INET, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as tried:
        tried.settimeout(2)
        return attempt(tried.connect, (host, port))
for host in ("169.254.169.254", "169.254.170.2", "100.100.100.200", "172.17.0.1", "127.0.0.1", "10.0.0.1", "8.8.8.8"):
    print(connect(host, ${port}), connect(host, 53, kind=socket.SOCK_DGRAM) if host != "127.0.0.1" else "ENETUNREACH")
for host in ("fd00:ec2::254", "::1", "::ffff:169.254.169.254", "2001:4860:4860::8888"):
    print(connect(host, ${port}, socket.AF_INET6))
for name in ("example.com", "host.docker.internal", "metadata.google.internal"): print(attempt(socket.getaddrinfo, name, 80))
print(os.listdir("/sys/class/net"), len(open("/proc/net/route").readlines()) <= 1)
`)
      // The network of a pod is that of its cluster: here an address without a route.
      if (sandbox === 'container') expect(answers.at(-1)).toBe("['lo'] True")
      for (const answer of answers.slice(0, -1)) {
        expect(answer).not.toContain('done')
        expect(answer).toMatch(
          /^(ENETUNREACH|ECONNREFUSED|EADDRNOTAVAIL|EAFNOSUPPORT|EHOSTUNREACH|\[Errno -\d\].*|\?|None| )+$/,
        )
      }
      expect(connections).toBe(0)
    } finally {
      server.close()
    }
  })

  it('A16 a hostile program sees no socket of a daemon, and no mount or file of the host', async () => {
    const answers = await probe(`
sockets = ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/dbus/system_bus_socket")
print([each for each in sockets if os.path.exists(each)])
print([each for each in ("/flag.txt", ${JSON.stringify(attackEnv.flagFile)}, "/host", "/rootfs", "/.dockerenv.host") if os.path.exists(each)])
import stat
found = []
for folder, _, names in os.walk("/"):
    if folder.startswith(("/proc", "/sys")): continue
    for name in names:
        try: mode = os.lstat(folder + "/" + name).st_mode
        except OSError: continue
        if stat.S_ISSOCK(mode) or stat.S_ISBLK(mode): found.append(folder + "/" + name)
print(found)
kinds = sorted({line.split(" - ")[1].split()[0] for line in open("/proc/self/mountinfo")})
print(kinds)
`)
    expect(answers.slice(0, 3)).toEqual(['[]', '[]', '[]'])
    // Mounts of the kernel and Docker. Of the host's ext4, xfs or nfs, only resolv.conf, hosts and hostname, read-only.
    const [, , , kinds = ''] = answers
    const mounts = await probe(`
for line in open("/proc/self/mountinfo"):
    point, options, kind = line.split()[4], line.split()[5], line.split(" - ")[1].split()[0]
    if kind not in ("overlay", "proc", "sysfs", "tmpfs", "devpts", "devtmpfs", "mqueue", "cgroup", "cgroup2"): print(point, options.split(",")[0])
print("end")
`)
    expect(kinds).toContain('tmpfs')
    // The message with which a pod ends is a file of its own.
    const ofHost = /^(\/etc\/(hosts|hostname|resolv\.conf)|\/dev\/termination-log) r[ow]$/
    for (const mount of mounts.slice(0, -1)) expect(mount).toMatch(ofHost)
    expect(await probe('print(*(write(f"/etc/{name}") for name in ("hosts", "hostname", "resolv.conf")))')).toEqual([
      expect.stringMatching(/^((EROFS|EACCES|EPERM) ?){3}$/),
    ])
  })

  it('A17 a hostile program finds the secret of the worker in no environment, argument, file or memory', async () => {
    // The source must not contain the secret itself, because the history contains the source.
    const answers = await probe(`
wanted = ${JSON.stringify(canaryPrefix.slice(0, 4))}.encode() + ${JSON.stringify(canaryPrefix.slice(4))}.encode()
hits = []
def search(path, data):
    at = data.find(wanted)
    if at >= 0: hits.append((path, data[at:at + 80]))
for pid in (each for each in os.listdir("/proc") if each.isdigit()):
    for name in ("environ", "cmdline", "status", "mountinfo", "maps"): search(f"/proc/{pid}/{name}", read(f"/proc/{pid}/{name}"))
for folder, _, names in os.walk("/"):
    if folder.startswith(("/proc", "/sys", "/usr/lib", "/usr/share", "/dev")): continue
    for name in names:
        if os.path.isfile(folder + "/" + name): search(folder + "/" + name, read(folder + "/" + name))
looked = 0
with open("/proc/self/mem", "rb", 0) as memory:
    for line in open("/proc/self/maps"):
        bounds, mode = line.split()[:2]
        if "r" not in mode or line.rstrip().endswith(("[vvar]", "[vsyscall]", "[vdso]")): continue
        start, end = (int(each, 16) for each in bounds.split("-"))
        try:
            memory.seek(start)
            data = memory.read(end - start)
        except (OSError, OverflowError): continue
        looked += len(data)
        at = -1
        while (at := data.find(wanted, at + 1)) >= 0:
            # This program has the prefix; the secret goes on with 36 hexadecimal digits and dashes.
            rest = data[at + len(wanted):at + len(wanted) + 36]
            if len(rest) == 36 and all(each in b"0123456789abcdef-" for each in rest): hits.append(("memory", rest))
print(looked > 1 << 20, hits)
`)
    expect(answers).toEqual(['True []'])
  })

  it('A18 a hostile program reads nothing about the host from the masked kernel files', async () => {
    const masked = ['kcore', 'keys', 'latency_stats', 'timer_list', 'sched_debug'].map((name) => `/proc/${name}`)
    const folders = ['/sys/firmware', '/proc/acpi', '/proc/scsi']
    // The container runtime of a node masks fewer, and Kubernetes has no option for more.
    if (sandbox === 'container') {
      const names = ['cmdline', 'kallsyms', 'interrupts', 'config.gz', 'diskstats', 'key-users', 'locks', 'modules']
      const more = ['partitions', 'schedstat', 'softirqs', 'swaps', 'sys/kernel/random/boot_id', 'pressure/cpu']
      masked.push(...[...names, ...more].map((name) => `/proc/${name}`), '/sys/firmware/dmi/tables/DMI')
      const devices = ['devices/virtual/block', 'devices/virtual/dmi', 'devices/virtual/powercap']
      const others = ['module', 'fs/ext4', 'block', 'class/block', 'dev/block']
      folders.push('/proc/pressure', ...[...devices, ...others].map((name) => `/sys/${name}`))
    }
    const answers = await probe(`
for path in ${pythonList(masked)}: print(len(read(path)))
for folder in ${pythonList(folders)}: print(len(os.listdir(folder)) if os.path.isdir(folder) else 0)
`)
    expect(answers).toEqual(Array.from({ length: masked.length + folders.length }, () => '0'))
  })

  it("A19 a hostile program can't write kernel files that start host programs", async () => {
    const paths = [...kernelFiles, '/proc/sys/kernel/hotplug', '/sys/fs/cgroup/pids/pids.max']
    const answers = await probe(`
for path in ${pythonList(paths)}: print(attempt(lambda: os.close(os.open(path, os.O_WRONLY))))
print(attempt(os.stat, "${rootOfInit}"))
def root_of(process):
    try: return os.stat(f"/proc/{process}/root").st_dev
    except (FileNotFoundError, ProcessLookupError): return None  # the process has ended
roots = {root_of(each) for each in os.listdir("/proc") if each.isdigit() and each != "1"} - {None}
print(len(roots) == 1 and os.stat("/").st_dev in roots)
print(attempt(os.mknod, "/tmp/device", 0o60600, os.makedev(8, 0)), attempt(os.mknod, "/tmp/memory", 0o20600, os.makedev(1, 1)))
`)
    for (const [index, path] of paths.entries()) expect(answers[index], path).toMatch(deniedErrno)
    expect(answers.slice(paths.length)).toEqual(['EACCES', 'True', 'EPERM EPERM'])
  })

  it("A20 a hostile program has no descriptor of the host, and can't write the runtime that started it", async () => {
    const answers = await probe(`${findDescriptors}
print(sorted({name.split(":")[0] for name in names.values() if not name.startswith("/proc/")}))
for path in ("/proc/self/exe", "/proc/1/exe"): print(attempt(lambda: os.close(os.open(path, os.O_WRONLY))))
for number in range(3, 64):
    if attempt(os.stat, f"/proc/self/fd/{number}/../../etc/shadow") == "done": print("escaped by", number)
print(os.getcwd())
`)
    expect(answers[0]).toMatch(/^\[('(pipe|socket|anon_inode|\/dev\/null|\/memfd|\/dev\/pts\/\d+)[^']*'(, )?)+\]$/)
    expect(answers[1]).toMatch(/^(ETXTBSY|EROFS|EACCES)$/)
    expect(answers[2]).toMatch(/^(ETXTBSY|EROFS|EACCES)$/)
    expect(answers.slice(3)).toEqual(['/tmp'])
  })
}
