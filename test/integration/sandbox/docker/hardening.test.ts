import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { containerName } from '../../../../src/sandbox/docker/container/sandbox-identity.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import {
  DockerEnvironment,
  type RunnerClient,
  docker,
  expectHardened,
  execRunner,
  openRunnerClient,
} from '../../../support/sandbox/docker-sandbox.js'

describeDocker('a hardened container', () => {
  const environment = new DockerEnvironment(execRunner)
  const backend = environment.backend()
  const spec = environment.spec()
  let client: RunnerClient

  beforeAll(async () => {
    await backend.ensureImage()
    client = await openRunnerClient(backend, spec)
    // Defines the helpers of the attacks.
    await client.evaluate(`
import ctypes, os, socket, subprocess, errno
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what, *arguments):
    try: what(*arguments)
    except OSError as error: return errno.errorcode[error.errno]
    return 'done'
def write(path): return attempt(lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)))
def syscall(number, *arguments):
    return 'done' if libc.syscall(number, *arguments) >= 0 else errno.errorcode[ctypes.get_errno()]
print('ready')
`)
  })
  afterAll(() => environment.close())

  test('a hardened container has all options of containerCreateOptions (A23)', async () => {
    const live = await docker.getContainer(containerName(spec)).inspect()
    await expectHardened(live, backend.image)
    const { Labels } = live.Config
    expect(Labels).toMatchObject({
      'ptc.namespace': environment.namespace,
      'ptc.workflow': 'wf',
      'ptc.run': 'run',
      'ptc.session': spec.session,
      'ptc.epoch': '1',
    })
    expect(Number(Labels['ptc.expires'])).toBeGreaterThan(Date.now() / 1_000)
  })

  test('a hardened container uses the image by its id, so that a moved tag has no effect (A24)', async () => {
    const live = await docker.getContainer(containerName(spec)).inspect()
    expect(live.Config.Image).toMatch(/^sha256:[0-9a-f]{64}$/)
  })

  test.each(['/x', '/etc/x', '/usr/x', '/run/x', '/opt/durable-ptc/x', '/opt/durable-ptc/python/runner.py', '/dev/x'])(
    "a hardened container can't write %s (A10)",
    async (path) => {
      expect(await client.evaluate(`print(write(${JSON.stringify(path)}))`)).toMatch(/^(EROFS|EACCES|EPERM)$/)
    },
  )

  test.each(['/dev/shm/x', '/proc/sys/kernel/hostname', '/sys/x', '/proc/sysrq-trigger', '/dev/mem', '/dev/kmsg'])(
    "a hardened container can't write or create %s (A10, A19)",
    async (path) => {
      expect(await client.evaluate(`print(write(${JSON.stringify(path)}))`)).toMatch(/^(EROFS|EACCES|EPERM|ENOENT)$/)
    },
  )

  test('a hardened container can write /tmp, within its size, number of files and file size (A03)', async () => {
    const small = await openRunnerClient(backend, environment.spec({ tmpBytes: 1 << 20 }))
    const report = await small.evaluate(`
import errno
def fill(name, size):
    try:
        with open('/tmp/' + name, 'wb') as file:
            file.truncate(size)
            file.write(b'x' * size)
    except OSError as error: return errno.errorcode[error.errno]
    return 'done'
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
print(fill('a', 400 << 10), fill('big', 1100 << 10), fill('b', 400 << 10), fill('c', 400 << 10), end=' ')
import os
for name in os.listdir('/tmp'): os.remove('/tmp/' + name)
print(sorted({fill(f'f{i}', 0) for i in range(5_000)}))
`)
    expect(report).toMatch(/^done EFBIG (done ENOSPC|ENOSPC \S+) \['ENOSPC', 'done'\]$/)
  })

  test('a hardened container has no capabilities, no new privileges, and a seccomp filter (A11)', async () => {
    const status = await client.evaluate(`
fields = dict(line.split(':', 1) for line in open('/proc/self/status'))
print({name: fields[name].strip() for name in ('CapEff', 'CapBnd', 'CapPrm', 'NoNewPrivs', 'Seccomp')})
`)
    const zero = '0000000000000000'
    expect(status).toBe(
      `{'CapEff': '${zero}', 'CapBnd': '${zero}', 'CapPrm': '${zero}', 'NoNewPrivs': '1', 'Seccomp': '2'}`,
    )
  })

  test('a hardened container has no set-uid program, and a separate user id (A11, A21)', async () => {
    expect(
      await client.evaluate(`print(subprocess.run(['find', '/', '-xdev', '-perm', '/6000', '-type', 'f'],
      capture_output=True, text=True).stdout.split())`),
    ).toBe('[]')
    const other = await openRunnerClient(backend, environment.spec())
    const [mine, theirs] = [
      Number(await client.evaluate('print(os.getuid())')),
      Number(await other.evaluate('import os; print(os.getuid())')),
    ]
    expect(mine).toBeGreaterThanOrEqual(100_000)
    expect(theirs).toBeGreaterThanOrEqual(100_000)
    expect(mine).not.toBe(theirs)
  })

  test("a hardened container can't fork beyond its limit, and continues (A01)", async () => {
    const small = await openRunnerClient(backend, environment.spec({ processes: 16 }))
    const forks = await small.evaluate(`
import os, signal
children = []
try:
    while len(children) < 100:
        pid = os.fork()
        if pid == 0: signal.pause()
        children.append(pid)
except BlockingIOError: pass
for pid in children: os.kill(pid, 9)
for pid in children: os.waitpid(pid, 0)
print(len(children))
`)
    expect(Number(forks)).toBeLessThan(16)
    expect(await small.evaluate('print("alive")')).toBe('alive')
  })

  test.each([
    ['io_setup', 206, '1, 0'],
    ['an unknown system call', 9999, '0'],
  ])('a hardened container is refused %s (A13)', async (_name, number, rest) => {
    if (process.arch !== 'x64') return expect(await client.evaluate('print("other numbers")')).toBe('other numbers')
    expect(await client.evaluate(`print(syscall(${number}, ${rest}))`)).toMatch(/^(EPERM|ENOSYS)$/)
  })

  test('a hardened container is killed for a 32-bit system call, which has other numbers', async () => {
    // mov eax, 20 (getpid of the 32-bit table); int 0x80; ret
    const code = await client.evaluate(`print(subprocess.run(['python3', '-c', """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex('b814000000cd80c3'))
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""]).returncode)`)
    expect(Number(code)).toBeLessThan(0)
  })

  test('clone3 in a hardened container gives ENOSYS, so that threads and child processes work', async () => {
    expect(await client.evaluate('print(syscall(435, 0, 0))')).toBe('ENOSYS')
    expect(
      await client.evaluate(`
import asyncio, threading
names = []
thread = threading.Thread(target=names.append, args=('thread',)); thread.start(); thread.join()
async def child(): return await (await asyncio.create_subprocess_exec('true')).wait()
print(names[0], asyncio.run(child()), subprocess.check_output('echo shell | cat', shell=True, text=True).strip())
`),
    ).toBe('thread 0 shell')
  })

  test.each([
    ['AF_VSOCK', 40, 1, 0],
    ['AF_ALG', 38, 5, 0],
    ['AF_PACKET', 17, 3, 1],
    ['AF_NETLINK', 16, 3, 1],
    ['a raw socket', 2, 3, 1],
    ['MPTCP', 2, 1, 262],
    ['UDP-Lite', 10, 2, 136],
  ])('a hardened container is refused %s (A14)', async (_name, family, type, protocol) => {
    expect(await client.evaluate(`print(attempt(socket.socket, ${family}, ${type}, ${protocol}))`)).toBe('EPERM')
  })

  test('a hardened container has no network: no metadata service, bridge, resolver, or server (A15)', async () => {
    const server: Server = createServer().listen(0, '0.0.0.0')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    try {
      const targets = `[('169.254.169.254', 80), ('172.17.0.1', ${port}), ('127.0.0.1', ${port}), ('8.8.8.8', 53)]`
      const results = await client.evaluate(`
def connect(target):
    with socket.socket() as tried:
        tried.settimeout(2)
        return attempt(tried.connect, target)
print([connect(target) for target in ${targets}], os.listdir('/sys/class/net'))
`)
      expect(results).toBe("['ENETUNREACH', 'ENETUNREACH', 'ECONNREFUSED', 'ENETUNREACH'] ['lo']")
      const lookup = 'try: print(socket.getaddrinfo("example.com", 80))\nexcept OSError as error: print("unknown")'
      expect(await client.evaluate(lookup)).toBe('unknown')
    } finally {
      server.close()
    }
  })

  test('a hardened container has no docker.sock, no mount and no environment of the host (A16, A17)', async () => {
    expect(
      await client.evaluate(`print([p for p in ('/var/run/docker.sock', '/run/docker.sock', '/run/containerd/containerd.sock')
      if os.path.exists(p)])`),
    ).toBe('[]')
    const environment = await client.evaluate('print(sorted(os.environ))')
    expect(environment).toBe(
      "['HOME', 'HOSTNAME', 'LANG', 'MATPLOTLIBRC', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'PATH', " +
        "'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'PYTHONUNBUFFERED']",
    )
  })

  test.each(['/proc/kcore', '/proc/keys', '/proc/cmdline', '/proc/kallsyms', '/proc/interrupts', '/proc/timer_list'])(
    'a hardened container can read nothing from %s (A18)',
    async (path) => {
      expect(
        await client.evaluate(`
try: print(len(open(${JSON.stringify(path)}, 'rb').read(100)))
except OSError: print(0)
`),
      ).toBe('0')
    },
  )

  test('a hardened container has only three descriptors (A20)', async () => {
    expect(
      await client.evaluate(
        'print(sorted(int(fd) for fd in os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")))',
      ),
    ).toBe('[0, 1, 2] 4')
  })

  test('all sandboxes have the same hash seed, so that a rebuilt program iterates its sets in the same order', async () => {
    const other = await openRunnerClient(backend, environment.spec())
    expect(await client.evaluate('print(hash("order"))')).toBe(await other.evaluate('print(hash("order"))'))
  })
})
