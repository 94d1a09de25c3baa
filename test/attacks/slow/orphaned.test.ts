import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { containerName } from '../../../src/sandbox/docker/container/sandbox-identity.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { describeGvisor, gvisorRuntime, missingGvisorRuntime } from '../../support/docker/describe-gvisor.js'
import {
  docker,
  DockerEnvironment,
  execRunner,
  neverAborted,
  openRunnerClient,
  RunnerClient,
} from '../../support/sandbox/docker-sandbox.js'
import { syscallHelpers } from '../support/hostile-code.js'

const orphanSeconds = 4
const stoppedOrphanSeconds = 8

/** Things that code can try against process 1 and the file that keeps it alive. Prints those that worked. */
const resist = `${syscallHelpers}
import signal, resource, time
alive = "/run/durable-ptc/keep-alive"
def memory():
    with open("/proc/1/mem", "r+b", 0) as file: file.read(1)
attempts = {
    "write": lambda: open(alive, "w").close(),
    "create": lambda: os.mkdir(alive),
    "time": lambda: os.utime("/run/durable-ptc"),
    "replace": lambda: os.rename("/run/durable-ptc", "/tmp/x"),
    "memory": memory,
}
def tried():
    worked = []
    for name, what in attempts.items():
        try: what()
        except OSError: continue
        worked.append(name)
    if libc.ptrace(16, 1, 0, 0) == 0: worked.append("ptrace")
    if libc.mount(b"none", b"/run/durable-ptc", b"tmpfs", 0, None) == 0: worked.append("mount")
    return worked
worked = tried()
# Under gVisor code may be root in a user namespace of its own.
if os.fork() == 0:
    if libc.unshare(0x10000000) == 0:
        try:
            with open("/proc/self/uid_map", "w") as file: file.write(f"0 {os.getuid()} 1")
        except OSError: pass
        worked = tried()
    os._exit(len(worked))
worked.append(os.waitstatus_to_exitcode(os.wait()[1]))
for name in ("RLIMIT_NOFILE", "RLIMIT_AS", "RLIMIT_SIGPENDING"):
    attempt(resource.prlimit, 1, getattr(resource, name), (0, 0))
attempt(os.setpriority, os.PRIO_PROCESS, 1, 19)
attempt(os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0))
print(worked, flush=True)
# Not SIGKILL, which under gVisor ends the container at once.
while True:
    for each in (signal.SIGCHLD, signal.SIGSTOP, signal.SIGTSTP): attempt(os.kill, 1, each)
    time.sleep(0.01)
`

function orphanTests(runtime: string | undefined): void {
  it("A25 a sandbox ends by itself when no worker keeps it alive, and code can't prevent that", async () => {
    const environment = new DockerEnvironment(execRunner)
    onTestFinished(() => environment.close())
    const backend = environment.backend({
      orphanSeconds,
      stoppedOrphanSeconds,
      ...(runtime !== undefined && { runtime }),
    })
    await backend.ensureImage()
    const [kept, quiet, hostile] = [environment.spec(), environment.spec(), environment.spec()]
    const clients = await Promise.all([kept, quiet, hostile].map((spec) => openRunnerClient(backend, spec)))
    const exitCode = async (spec: typeof kept) => {
      const { State } = await docker.getContainer(containerName(spec)).inspect()
      return State.Running ? 'running' : State.ExitCode
    }

    expect(await clients[2]?.evaluate(resist)).toBe('[0]')
    // Touches the file as a living worker does. The other sandboxes live longer than this one would without it.
    const container = docker.getContainer(containerName(kept))
    const touch = async () => {
      const command = ['/usr/bin/touch', '/run/durable-ptc/keep-alive']
      const exec = await container.exec({ Cmd: command, User: '0:0', WorkingDir: '/' })
      await exec.start({ Detach: true })
    }
    const timer = setInterval(() => void touch(), 1_000)
    onTestFinished(() => clearInterval(timer))
    const ended = await Promise.all(clients.slice(1).map(({ connection }) => connection.ended))

    // Under gVisor, code can stop process 1. The kernel's timer kills it then.
    const hostileExit = runtime === undefined ? 124 : 137
    expect(ended.map((end) => end.exitCode)).toEqual([124, hostileExit])
    expect(await exitCode(kept)).toBe('running')
    clearInterval(timer)
    await backend.keepAlive(environment.namespace)
    expect(await clients[0]?.connection.ended).toMatchObject({ exitCode: 124 })

    // The next worker finds no sandbox, and removes the remains.
    expect(await backend.attach(quiet, neverAborted)).toBeUndefined()
    // Workers of other tests on this daemon may remove them before.
    const { namespace } = environment
    await backend.removeExpired({ namespace, now: new Date() })
    const left = await backend.listSandboxes(namespace)
    expect(left.map(({ id }) => id.session)).toEqual(runtime === undefined ? [] : [hostile.session])
  })
}

describeDocker('an orphaned sandbox', () => orphanTests(undefined))

describeGvisor('an orphaned sandbox under gVisor', await missingGvisorRuntime(), () => {
  orphanTests(gvisorRuntime)

  it('A25 a sandbox under gVisor lives on when its checkpoint was parked for longer', async () => {
    const environment = new DockerEnvironment(execRunner)
    onTestFinished(() => environment.close())
    const backend = environment.backend({ orphanSeconds, runtime: gvisorRuntime })
    await backend.ensureImage()
    const spec = environment.spec()
    const client = await openRunnerClient(backend, spec)
    expect(await client.evaluate('kept = 42\nprint(kept)')).toBe('42')
    if (!(await backend.checkpoints?.checkpoint(spec, neverAborted))) return
    await delay(2_000 * orphanSeconds)
    const restored = new RunnerClient(await backend.open(spec, neverAborted))
    expect(await restored.evaluate('print(kept)')).toBe('42')
    expect(await restored.connection.ended).toMatchObject({ exitCode: 124 })
  })
})
