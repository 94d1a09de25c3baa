import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeGvisor, gvisorRuntime, missingGvisorRuntime } from '../../support/docker/describe-gvisor.js'
import { tool } from '../../support/tools.js'
import { AttackEnvironment, canaryPrefix, maxMemoryGrowthBytes } from '../support/attack-environment.js'
import { userOf } from '../support/host-processes.js'
import { unpackHostileArchives } from '../support/hostile-archives.js'
import { findDescriptors, kernelFiles, runnerTakeover, syscallHelpers } from '../support/hostile-code.js'
import { expectContainerSettings, BystanderContainer } from '../support/bystander-container.js'

const deniedErrno = /^(EROFS|EACCES|EPERM|ENOENT|ENXIO|ENODEV|EINVAL|ENOTDIR)$/

describeGvisor('a hostile program that tries to escape gVisor', await missingGvisorRuntime(), () => {
  let attackEnv: AttackEnvironment
  const bystanders = new BystanderContainer()
  const large = tool('large', () => 'x'.repeat(1_000_000))
  beforeAll(async () => {
    attackEnv = await AttackEnvironment.start({
      backend: 'docker',
      runtime: gvisorRuntime,
      tools: [bystanders.wait, large],
    })
  })
  afterAll(() => attackEnv.close())

  const probe = (source: string) => attackEnv.probe(syscallHelpers + source)

  it('A16 a hostile program under gVisor sees no socket of a daemon, and no mount or file of the host', async () => {
    const answers = await probe(`
import stat
sockets = ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock")
print([each for each in (*sockets, "/flag.txt", ${JSON.stringify(attackEnv.flagFile)}, "/host", "/rootfs") if os.path.exists(each)])
found = []
for folder, _, names in os.walk("/"):
    if folder.startswith(("/proc", "/sys")): continue
    for name in names:
        try: mode = os.lstat(folder + "/" + name).st_mode
        except OSError: continue
        if stat.S_ISSOCK(mode) or stat.S_ISBLK(mode): found.append(folder + "/" + name)
print(found)
print(*(write(f"/etc/{name}") for name in ("hosts", "hostname", "resolv.conf")))
`)
    expect(answers).toEqual(['[]', '[]', expect.stringMatching(/^((EROFS|EACCES|EPERM) ?){3}$/)])
  })

  it('A17 a program under gVisor finds the secret of the worker in no environment, argument or file', async () => {
    const answers = await probe(`
wanted = ${JSON.stringify(canaryPrefix.slice(0, 4))}.encode() + ${JSON.stringify(canaryPrefix.slice(4))}.encode()
hits = []
def search(path):
    if wanted in read(path): hits.append(path)
for pid in (each for each in os.listdir("/proc") if each.isdigit()):
    for name in ("environ", "cmdline", "status", "mountinfo", "maps"): search(f"/proc/{pid}/{name}")
for folder, _, names in os.walk("/"):
    if folder.startswith(("/proc", "/sys", "/usr/lib", "/usr/share", "/dev")): continue
    for name in names:
        if os.path.isfile(folder + "/" + name): search(folder + "/" + name)
print(hits)
`)
    expect(answers).toEqual(['[]'])
  })

  it("A19 a hostile program under gVisor can't write kernel files that start host programs", async () => {
    const answers = await probe(`
for path in ${JSON.stringify(kernelFiles)}: print(attempt(lambda: os.close(os.open(path, os.O_WRONLY))))
for path, kind, major, minor in (("/tmp/disk", 0o60600, 8, 0), ("/tmp/memory", 0o20600, 1, 1), ("/tmp/kernel", 0o20600, 1, 11)):
    attempt(os.mknod, path, kind, os.makedev(major, minor))
    print(attempt(lambda: os.close(os.open(path, os.O_RDWR))))
`)
    const devices = ['disk', 'memory', 'kernel']
    expect(answers).toHaveLength(kernelFiles.length + devices.length)
    // gVisor creates the device node in its own /tmp, but no device is behind the node.
    for (const [index, answer] of answers.entries())
      expect(answer, [...kernelFiles, ...devices][index]).toMatch(deniedErrno)
  })

  it("A20 a hostile program under gVisor has no open descriptor of the host, and can't write the runtime", async () => {
    const answers = await probe(`${findDescriptors}
print(sorted({name.split(":")[0] for name in names.values() if not name.startswith(("/proc/", "host:"))}))
print(len({name for name in names.values() if name.startswith("host:")}) <= 3)
for path in ("/proc/self/exe", "/proc/1/exe"): print(attempt(lambda: os.close(os.open(path, os.O_WRONLY))))
for number in range(3, 64):
    if attempt(os.stat, f"/proc/self/fd/{number}/../../etc/shadow") == "done": print("escaped by", number)
print(os.getcwd())
`)
    expect(answers[0]).toMatch(/^\[('(pipe|socket|anon_inode|\/dev\/null|\/memfd)[^']*'(, )?)+\]$/)
    // The host's only descriptors are stdin, stdout and stderr.
    expect(answers[1]).toBe('True')
    expect(answers[2]).toMatch(/^(ETXTBSY|EROFS|EACCES|EPERM)$/)
    expect(answers[3]).toMatch(/^(ETXTBSY|EROFS|EACCES|EPERM)$/)
    expect(answers.slice(4)).toEqual(['/tmp'])
  })

  it("A21 a program under gVisor can't see, signal or starve another session, which has another user", async () => {
    const { outcome } = await bystanders.runDuring(attackEnv.env, async (container) => {
      const answers = await probe(`
pids = [each for each in os.listdir("/proc") if each.isdigit()]
print([each for each in pids if os.stat("/proc/" + each).st_uid not in (0, os.getuid())], len(pids) <= 2)
print(os.getuid() != ${userOf(container)}, attempt(os.kill, -1, 9), attempt(os.kill, ${container.State.Pid}, 9))
`)
      expect(answers).toEqual(['[] True', expect.stringMatching(/^True (ESRCH|done) ESRCH$/)])
      const forks = 'import os\nwhile True:\n    try: os.fork()\n    except BaseException: pass'
      expect((await attackEnv.attack(forks, { cellSeconds: 2 })).outcome.status).not.toBe('ok')
    })
    expect(outcome).toMatchObject({ status: 'ok', output: 'mine\n' })
  })

  it('A22 archive bombs, path traversal, links and devices stay inside a gVisor sandbox', async () => {
    const device = await unpackHostileArchives(attackEnv)
    // gVisor creates the device node, but no device is behind the node.
    expect(device).toMatch(deniedErrno)
  })

  it('A23, A24 a gVisor sandbox has the documented settings, and its image is identified by its content', async () => {
    await bystanders.runDuring(attackEnv.env, async (live) => {
      await Promise.resolve()
      expectContainerSettings(live, gvisorRuntime)
      const { Image, Entrypoint, Volumes, Healthcheck } = live.Config
      expect(Image).toMatch(/^sha256:[0-9a-f]{64}$/)
      expect(Entrypoint).toContain('/opt/durable-ptc/python/runner.py')
      expect([Volumes ?? {}, live.Mounts, Healthcheck]).toEqual([{}, [], { Test: ['NONE'] }])
    })
  })

  it('A07 results that the runner does not read are not kept without limit, under gVisor', async () => {
    const source = `${runnerTakeover}
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
say(type="suspended", calls=[call(1 + n, "large") for n in range(10)], wake_in=None, output="")
time.sleep(1e6)
`
    const { outcome, memoryGrowthBytes } = await attackEnv.attack(source, { cellSeconds: 2 })
    expect(outcome).toMatchObject({ status: 'timed_out' })
    expect(memoryGrowthBytes).toBeLessThan(maxMemoryGrowthBytes)
  })

  it('attacks under gVisor leave no process (every attack also checks that no container is left)', () => {
    expect(bystanders.users).toHaveLength(2)
    expect(bystanders.haveExited()).toBe(true)
  })
})
