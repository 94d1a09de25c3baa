import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { containerName } from '../../src/sandbox/docker/identity.js'
import { describeDocker } from '../support/docker.js'
import { TestBackend, type Talk, docker, expectHardened, obedientRunner, openTalk } from './docker-support.js'

describeDocker('a hardened container', () => {
  const obedient = new TestBackend(obedientRunner)
  const backend = obedient.backend()
  const spec = obedient.spec()
  let talk: Talk

  beforeAll(async () => {
    await backend.ensureImage()
    talk = await openTalk(backend, spec)
    // What the attacks need, once.
    await talk.ask(`
import ctypes, os, socket, subprocess, errno
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what, *arguments):
    try: what(*arguments)
    except OSError as error: return errno.errorcode[error.errno]
    return 'done'
def write(path): return attempt(lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)))
def syscall(number, *arguments):
    return 'done' if libc.syscall(number, *arguments) >= 0 else errno.errorcode[ctypes.get_errno()]
print('armed')
`)
  })
  afterAll(() => obedient.close())

  test('is what the table says, field by field (A23)', async () => {
    const live = await docker.getContainer(containerName(spec)).inspect()
    await expectHardened(live, backend.image)
    const { Labels } = live.Config
    expect(Labels).toMatchObject({
      'ptc.owner': obedient.namespace,
      'ptc.workflow': 'wf',
      'ptc.run': 'run',
      'ptc.session': spec.session,
      'ptc.epoch': '1',
    })
    expect(Number(Labels['ptc.expires'])).toBeGreaterThan(Date.now() / 1_000)
  })

  test('runs the image by its id, so that a moved tag changes nothing (A24)', async () => {
    const live = await docker.getContainer(containerName(spec)).inspect()
    expect(live.Config.Image).toMatch(/^sha256:[0-9a-f]{64}$/)
  })

  test.each(['/x', '/etc/x', '/usr/x', '/run/x', '/opt/durable-ptc/x', '/opt/durable-ptc/runner.py', '/dev/x'])(
    'refuses to write %s (A10)',
    async (path) => {
      expect(await talk.ask(`print(write(${JSON.stringify(path)}))`)).toMatch(/^(EROFS|EACCES|EPERM)$/)
    },
  )

  test.each(['/dev/shm/x', '/proc/sys/kernel/hostname', '/sys/x', '/proc/sysrq-trigger', '/dev/mem', '/dev/kmsg'])(
    'has no way to write %s (A10, A19)',
    async (path) => {
      expect(await talk.ask(`print(write(${JSON.stringify(path)}))`)).toMatch(/^(EROFS|EACCES|EPERM|ENOENT)$/)
    },
  )

  test('can write /tmp, within its size, its number of files and the size of a file (A03)', async () => {
    const small = await openTalk(backend, obedient.spec({ tmpBytes: 1 << 20, tmpInodes: 64, fileBytes: 512 << 10 }))
    const report = await small.ask(`
import errno
def fill(name, size):
    try:
        with open('/tmp/' + name, 'wb') as file: file.write(b'x' * size)
    except OSError as error: return errno.errorcode[error.errno]
    return 'done'
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
print(fill('a', 400 << 10), fill('big', 600 << 10), fill('b', 400 << 10), fill('c', 400 << 10), end=' ')
import os
for name in os.listdir('/tmp'): os.remove('/tmp/' + name)
print(sorted({fill(f'f{i}', 0) for i in range(100)}))
`)
    expect(report).toMatch(/^done EFBIG (done ENOSPC|ENOSPC \S+) \['ENOSPC', 'done'\]$/)
  })

  test('has no capabilities, no new privileges, and a filter (A11)', async () => {
    const status = await talk.ask(`
fields = dict(line.split(':', 1) for line in open('/proc/self/status'))
print({name: fields[name].strip() for name in ('CapEff', 'CapBnd', 'CapPrm', 'NoNewPrivs', 'Seccomp')})
`)
    const zero = '0000000000000000'
    expect(status).toBe(
      `{'CapEff': '${zero}', 'CapBnd': '${zero}', 'CapPrm': '${zero}', 'NoNewPrivs': '1', 'Seccomp': '2'}`,
    )
  })

  test('has no set-uid program, and a user id of its own (A11, A21)', async () => {
    expect(
      await talk.ask(`print(subprocess.run(['find', '/', '-xdev', '-perm', '/6000', '-type', 'f'],
      capture_output=True, text=True).stdout.split())`),
    ).toBe('[]')
    const other = await openTalk(backend, obedient.spec())
    const [mine, theirs] = [
      Number(await talk.ask('print(os.getuid())')),
      Number(await other.ask('import os; print(os.getuid())')),
    ]
    expect(mine).toBeGreaterThanOrEqual(100_000)
    expect(theirs).toBeGreaterThanOrEqual(100_000)
    expect(mine).not.toBe(theirs)
  })

  test('forks no more than it may, and lives on (A01)', async () => {
    const small = await openTalk(backend, obedient.spec({ processes: 16 }))
    const forks = await small.ask(`
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
    expect(await small.ask('print("alive")')).toBe('alive')
  })

  test.each([
    ['unshare', 272, '0x10000000'],
    ['setns', 308, '0, 0'],
    ['mount', 165, '0, 0, 0, 0, 0'],
    ['pivot_root', 155, '0, 0'],
    ['fsopen', 430, '0, 0'],
    ['open_tree', 428, '0, 0, 0'],
    ['clone with a new user namespace', 56, '0x10000000, 0, 0, 0, 0'],
    ['settimeofday', 164, '0, 0'],
    ['sethostname', 170, 'b"x", 1'],
    ['reboot', 169, '0, 0, 0, 0'],
    ['swapon', 167, '0, 0'],
    ['bpf', 321, '0, 0, 0'],
    ['perf_event_open', 298, '0, 0, 0, 0, 0'],
    ['userfaultfd', 323, '0'],
    ['keyctl', 250, '0, 0, 0, 0, 0'],
    ['add_key', 248, '0, 0, 0, 0, 0'],
    ['io_uring_setup', 425, '1, 0'],
    ['io_uring_enter', 426, '0, 0, 0, 0, 0, 0'],
    ['open_by_handle_at', 304, '0, 0, 0'],
    ['name_to_handle_at', 303, '0, 0, 0, 0, 0'],
    ['kexec_load', 246, '0, 0, 0, 0'],
    ['init_module', 175, '0, 0, 0'],
    ['ptrace', 101, '0, 0, 0, 0'],
    ['process_vm_readv', 310, '0, 0, 0, 0, 0, 0'],
    ['splice', 275, '0, 0, 0, 0, 0, 0'],
    ['mq_open', 240, 'b"queue", 66, 384, 0'],
    ['shmget', 29, '0, 4096, 512'],
    ['io_setup', 206, '1, 0'],
    ['a made-up system call', 9999, '0'],
  ])('is refused %s (A12, A13)', async (_name, number, rest) => {
    if (process.arch !== 'x64') return expect(await talk.ask('print("other numbers")')).toBe('other numbers')
    expect(await talk.ask(`print(syscall(${number}, ${rest}))`)).toMatch(/^(EPERM|ENOSYS)$/)
  })

  test('dies of a 32-bit call, for which the numbers above mean something else', async () => {
    // mov eax, 20 (getpid of the 32-bit table); int 0x80; ret
    const code = await talk.ask(`print(subprocess.run(['python3', '-c', """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex('b814000000cd80c3'))
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""]).returncode)`)
    expect(Number(code)).toBeLessThan(0)
  })

  test('is refused clone3, in the way that makes libc use clone: threads and children work', async () => {
    expect(await talk.ask('print(syscall(435, 0, 0))')).toBe('ENOSYS')
    expect(
      await talk.ask(`
import asyncio, threading
said = []
thread = threading.Thread(target=said.append, args=('thread',)); thread.start(); thread.join()
async def child(): return await (await asyncio.create_subprocess_exec('true')).wait()
print(said[0], asyncio.run(child()), subprocess.check_output('echo shell | cat', shell=True, text=True).strip())
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
  ])('is refused %s (A14)', async (_name, family, type, protocol) => {
    expect(await talk.ask(`print(attempt(socket.socket, ${family}, ${type}, ${protocol}))`)).toBe('EPERM')
  })

  test('reaches nobody: not the metadata service, the bridge, a resolver, or a server of its host (A15)', async () => {
    const server: Server = createServer().listen(0, '0.0.0.0')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    try {
      const targets = `[('169.254.169.254', 80), ('172.17.0.1', ${port}), ('127.0.0.1', ${port}), ('8.8.8.8', 53)]`
      const answers = await talk.ask(`
def connect(target):
    with socket.socket() as tried:
        tried.settimeout(2)
        return attempt(tried.connect, target)
print([connect(target) for target in ${targets}], os.listdir('/sys/class/net'))
`)
      expect(answers).toBe("['ENETUNREACH', 'ENETUNREACH', 'ECONNREFUSED', 'ENETUNREACH'] ['lo']")
      const lookup = 'try: print(socket.getaddrinfo("example.com", 80))\nexcept OSError as error: print("unknown")'
      expect(await talk.ask(lookup)).toBe('unknown')
    } finally {
      server.close()
    }
  })

  test("sees no docker.sock, no mount of the host, and none of its worker's environment (A16, A17)", async () => {
    expect(
      await talk.ask(`print([p for p in ('/var/run/docker.sock', '/run/docker.sock', '/run/containerd/containerd.sock')
      if os.path.exists(p)])`),
    ).toBe('[]')
    const environment = await talk.ask('print(sorted(os.environ))')
    expect(environment).toBe(
      "['HOME', 'HOSTNAME', 'LANG', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'PYTHONUNBUFFERED']",
    )
  })

  test.each(['/proc/kcore', '/proc/keys', '/proc/cmdline', '/proc/kallsyms', '/proc/interrupts', '/proc/timer_list'])(
    'reads nothing from %s (A18)',
    async (path) => {
      expect(
        await talk.ask(`
try: print(len(open(${JSON.stringify(path)}, 'rb').read(100)))
except OSError: print(0)
`),
      ).toBe('0')
    },
  )

  test('has only its own three descriptors (A20)', async () => {
    expect(
      await talk.ask(
        'print(sorted(int(fd) for fd in os.listdir("/proc/self/fd"))[:3], len(os.listdir("/proc/self/fd")))',
      ),
    ).toBe('[0, 1, 2] 4')
  })

  test('hashes text as every other sandbox does: a rebuilt program sees its sets in the same order', async () => {
    const other = await openTalk(backend, obedient.spec())
    expect(await talk.ask('print(hash("order"))')).toBe(await other.ask('print(hash("order"))'))
  })
})
