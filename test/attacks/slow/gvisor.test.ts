import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeGvisor, gvisorRuntime as runtime, missingGvisorRuntime } from '../../support/docker/describe-gvisor.js'
import { AttackEnvironment } from '../support/attack-environment.js'
import { runnerTakeover, syscallHelpers } from '../support/hostile-code.js'

const megabyte = 1024 * 1024

describeGvisor('a hostile program under gVisor', await missingGvisorRuntime(), () => {
  let attackEnv: AttackEnvironment
  beforeAll(async () => {
    attackEnv = await AttackEnvironment.start({ backend: 'docker', runtime, limits: { cellSeconds: 3 } })
  })
  afterAll(() => attackEnv.close())

  const probe = (source: string) => attackEnv.probe(syscallHelpers + source, { cellSeconds: 20 })

  it('A01 a fork bomb under gVisor ends with a typed outcome', async () => {
    const { outcome } = await attackEnv.attack(
      'import os\nwhile True:\n    try: os.fork()\n    except BaseException: pass',
    )
    expect(['timed_out', 'lost', 'limit_exceeded']).toContain(outcome.status)
  })

  it('A02 unlimited allocation under gVisor ends the sandbox with a typed outcome', async () => {
    const { outcome } = await attackEnv.attack('rows = []\nwhile True: rows.append(b"x" * 8_000_000)', {
      memoryBytes: 128 * megabyte,
      cellSeconds: 20,
    })
    expect(['limit_exceeded', 'lost', 'code_error']).toContain(outcome.status)
  })

  it('A03 /tmp under gVisor has a size limit', async () => {
    const [answer] = await probe(`
def fill():
    for n in range(80):
        with open(f"/tmp/{n}", "wb") as file: file.write(bytes(1 << 20))
print(attempt(fill))
`)
    expect(answer).toBe('ENOSPC')
  })

  it('A06 a flood of output under gVisor is truncated', async () => {
    const { outcome, memoryGrowthBytes } = await attackEnv.attack('while True: print("x" * 1_000)')
    expect(outcome.status).toBe('timed_out')
    expect(outcome.output.length).toBeLessThan(21_000)
    expect(memoryGrowthBytes).toBeLessThan(150 * megabyte)
  })

  it('A08 code under gVisor that blocks signals is killed at its timeout', async () => {
    const { outcome } = await attackEnv.attack(
      'import signal\nsignal.pthread_sigmask(0, range(1, 65))\nwhile True: pass',
    )
    expect(outcome).toMatchObject({ status: 'timed_out', sessionKept: false })
  })

  it('A10 a hostile program under gVisor can write only /tmp', async () => {
    const paths = ['/x', '/etc/x', '/usr/x', '/opt/durable-ptc/python/runner.py', '/proc/sys/kernel/hostname', '/sys/x']
    const answers = await probe(`for path in ${JSON.stringify(paths)}: print(write(path))`)
    for (const [index, answer] of answers.entries()) expect(answer, paths[index]).not.toBe('done')
  })

  it('A11 a hostile program under gVisor has no privilege', async () => {
    expect(
      await probe(`
fields = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(fields["CapEff"], 16), int(fields["CapBnd"], 16), os.getuid() >= 1_000, attempt(os.setuid, 0))
`),
    ).toEqual(['0 0 True EPERM'])
  })

  it.runIf(process.arch === 'x64')('A13, A14 large kernel interfaces are not available under gVisor', async () => {
    const answers = await probe(`
for number in (321, 298, 323, 425, 304, 246, 175, 165): print(syscall(number, 0, 0, 0, 0, 0))
for family, kind, protocol in ((40, 1, 0), (38, 5, 0), (17, 3, 0), (2, 1, 262), (2, 2, 136), (2, 1, 132), (2, 3, 1)):
    print(attempt(socket.socket, family, kind, protocol))
`)
    for (const answer of answers)
      expect(answer).toMatch(
        /^(EPERM|ENOSYS|EINVAL|EAFNOSUPPORT|ESOCKTNOSUPPORT|EPROTONOSUPPORT|ENOTSUP|EACCES|ENODEV)$/,
      )
  })

  it('A15 a hostile program under gVisor has no network', async () => {
    const answers = await probe(`
for host in ("169.254.169.254", "172.17.0.1", "8.8.8.8"):
    with socket.socket() as tried:
        tried.settimeout(2)
        print(attempt(tried.connect, (host, 80)))
`)
    for (const answer of answers) expect(answer).toMatch(/^(ENETUNREACH|EHOSTUNREACH|ECONNREFUSED)$/)
  })

  it('A17, A18 a hostile program under gVisor sees neither the host kernel nor a secret of the worker', async () => {
    const answers = await probe(`
import platform
print(platform.release())
names = ("kcore", "kallsyms", "keys", "key-users", "diskstats", "modules", "pressure/cpu", "sys/kernel/random/boot_id")
print([name for name in names if read("/proc/" + name)])
print([pid for pid in os.listdir("/proc") if pid.isdigit() and b"PTC_" in read(f"/proc/{pid}/environ")])
print("overlay2" in open("/proc/self/mountinfo").read())
`)
    expect(answers[0]).toBe('4.4.0')
    expect(answers.slice(1)).toEqual(['[]', '[]', 'False'])
  })

  it('B02 a forged call under gVisor is checked like any other call', async () => {
    const { outcome } = await attackEnv.attack(`${runnerTakeover}\nprint(suspend(call(1, "delete_all"))[0][0])`)
    expect(outcome).toMatchObject({ status: 'ok', output: 'denied\n' })
  })
})
