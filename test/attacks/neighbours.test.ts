import Dockerode from 'dockerode'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defaultLimits } from '../../src/common/limits.js'
import type { ProgramResult } from '../../src/common/runs.js'
import { containerBody } from '../../src/sandbox/docker/container-body.js'
import { describeDocker } from '../support/docker.js'
import { Happening, tool } from '../support/tools.js'
import { Arena } from './arena.js'
import { processesOf, userOf } from './host-processes.js'
import { tools } from './hostile-code.js'

/** What a call of the innocent waits behind. */
class Gate {
  readonly #called = new Happening()
  readonly #opened = new Happening<null>()
  readonly called = this.#called.happened

  pass(): Promise<null> {
    this.#called.happen()
    return this.#opened.happened
  }

  open(): void {
    this.#opened.happen(null)
  }
}

/** What a daemon has beside containers. */
async function belongings(): Promise<readonly string[]> {
  const docker = new Dockerode()
  const [networks, volumes] = await Promise.all([docker.listNetworks(), docker.listVolumes()])
  return [...networks.map(({ Name }) => Name), ...(volumes.Volumes ?? []).map(({ Name }) => Name)].toSorted()
}

describeDocker('a hostile program and its neighbours', () => {
  let arena: Arena
  let gate = new Gate()
  let before: readonly string[]
  const users: number[] = []
  beforeAll(async () => {
    before = await belongings()
    arena = await Arena.open({ tools: [tool('wait', () => gate.pass())] })
  })
  afterAll(() => arena.close())

  /** Runs what is to be done while an innocent program waits for its tool; gives how that one ended. */
  async function beside(work: (container: Dockerode.ContainerInspectInfo) => Promise<void>): Promise<ProgramResult> {
    gate = new Gate()
    const source = 'import os\nopen("/tmp/mine", "w").write("mine")\nawait wait()\nprint(open("/tmp/mine").read())'
    const innocent = await arena.stack.startProgram(source)
    await gate.called
    const [info] = await arena.stack.containers(innocent)
    const container = await new Dockerode().getContainer(info?.Id ?? '').inspect()
    users.push(userOf(container))
    expect(processesOf(userOf(container))).not.toEqual([])
    await work(container)
    gate.open()
    const result = (await innocent.result()) as ProgramResult
    await arena.stack.leftClean(innocent)
    return result
  }

  it('A21 another session is not seen, not signalled, not starved, and runs as another user', async () => {
    const { outcome } = await beside(async (container) => {
      const user = userOf(container)
      const answers = await arena.probe(
        `${tools}
print([each for each in os.listdir("/proc") if each.isdigit() and os.stat("/proc/" + each).st_uid not in (0, os.getuid())])
print(os.getuid() != ${user}, attempt(os.kill, -1, 9), len([each for each in os.listdir("/proc") if each.isdigit()]) <= 2)
print(attempt(os.kill, ${container.State.Pid}, 9))
children = []
try:
    while True:
        pid = os.fork()
        if pid == 0: __import__("signal").pause()
        children.append(pid)
except BlockingIOError: pass
for pid in children: os.kill(pid, 9); os.waitpid(pid, 0)
print(len(children) > 1)
`,
        { cellSeconds: 60 },
      )
      expect(answers).toEqual(['[]', expect.stringMatching(/^True (ESRCH|done) True$/), 'ESRCH', 'True'])
    })
    expect(outcome).toEqual({ status: 'ok', output: 'mine\n' })
  })

  it('A22 bombs, ways up, links and devices in archives stay inside, and nothing of them is left', async () => {
    const answers = await arena.probe(
      `
import errno, io, os, tarfile, zipfile
def attempt(what):
    try: what()
    except OSError as error: return errno.errorcode.get(error.errno, str(error))
    except Exception as error: return type(error).__name__
    return "done"
bomb = io.BytesIO()
with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
    with archive.open("zeros", "w", force_zip64=True) as file:
        for _ in range(100): file.write(bytes(1 << 20))
print(attempt(lambda: zipfile.ZipFile(bomb).extractall("/tmp/bomb")))
__import__("shutil").rmtree("/tmp/bomb")
def tar(name, kind, **fields):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.type = kind
        for key, value in fields.items(): setattr(info, key, value)
        archive.addfile(info)
    made.seek(0)
    return attempt(lambda: tarfile.open(fileobj=made).extractall("/tmp/tar"))
print(tar("../../etc/cron.d/evil", tarfile.REGTYPE), os.path.exists("/etc/cron.d/evil"))
print(tar("/usr/evil", tarfile.REGTYPE), os.path.exists("/usr/evil"))
tar("link", tarfile.SYMTYPE, linkname="/etc/passwd")
print(attempt(lambda: open("/tmp/tar/link", "a")))
tar("device", tarfile.BLKTYPE, devmajor=8, devminor=0)
print(os.path.exists("/tmp/tar/device"))
`,
      { cellSeconds: 60 },
    )
    expect(answers[0]).toMatch(/^(ENOSPC|EFBIG)$/)
    expect(answers[1]).toMatch(/ False$/)
    expect(answers[2]).toMatch(/ False$/)
    expect(answers[3]).toMatch(/^(EACCES|EROFS|ENOENT)$/)
    expect(answers[4]).toBe('False')
  })

  it('A23 a live container is what the table says, and passes what docker-bench asks (CIS 5)', async () => {
    await beside(async (live) => {
      const { HostConfig: host, Config: config } = live
      const wanted = containerBody({
        image: live.Image,
        userId: userOf(live),
        labels: config.Labels,
        limits: defaultLimits,
        seccomp: host.SecurityOpt.find((each: string) => each.startsWith('seccomp='))?.slice(8) ?? '',
      })
      for (const [field, value] of Object.entries(wanted.HostConfig)) {
        const found = (host as Record<string, unknown>)[field]
        // The daemon says null for some empty lists, and adds a count of its own.
        if (Array.isArray(value) && value.length === 0) expect(found ?? [], field).toEqual([])
        else expect(found, field).toEqual(field === 'RestartPolicy' ? { Name: 'no', MaximumRetryCount: 0 } : value)
      }
      const bench = {
        '5.4 capabilities': host.CapAdd?.length ?? 0,
        '5.5 privileged': host.Privileged,
        '5.6 mounts': live.Mounts.length,
        '5.10 host network': host.NetworkMode,
        '5.11 memory': (host.Memory ?? 0) > 0 && host.Memory === host.MemorySwap,
        '5.12 cpu': (host.NanoCpus ?? 0) > 0,
        '5.13 read-only root': host.ReadonlyRootfs,
        '5.15 restart': host.RestartPolicy?.Name,
        '5.16, 5.17, 5.21 namespaces': [host.PidMode, host.IpcMode, host.UTSMode, host.UsernsMode],
        '5.18 devices': host.Devices?.length ?? 0,
        '5.19 ulimits': (host.Ulimits?.length ?? 0) > 0,
        '5.22 seccomp': host.SecurityOpt.some((each: string) => each === 'seccomp=unconfined'),
        '5.26 no new privileges': host.SecurityOpt.includes('no-new-privileges:true'),
        '5.29 pids': host.PidsLimit,
        '5.30 published ports': Object.keys(live.NetworkSettings.Ports).length,
        user: config.User.startsWith('0'),
      }
      expect(bench).toEqual({
        '5.4 capabilities': 0,
        '5.5 privileged': false,
        '5.6 mounts': 0,
        '5.10 host network': 'none',
        '5.11 memory': true,
        '5.12 cpu': true,
        '5.13 read-only root': true,
        '5.15 restart': 'no',
        '5.16, 5.17, 5.21 namespaces': ['', 'none', '', ''],
        '5.18 devices': 0,
        '5.19 ulimits': true,
        '5.22 seccomp': false,
        '5.26 no new privileges': true,
        '5.29 pids': defaultLimits.processes,
        '5.30 published ports': 0,
        user: false,
      })
    })
  })

  it('A24 the image is named by its content, and brings no command and no volume of its own', async () => {
    await beside(async ({ Config: { Image, Entrypoint, Volumes, Healthcheck }, Mounts }) => {
      await Promise.resolve()
      expect(Image).toMatch(/^sha256:[0-9a-f]{64}$/)
      expect(Entrypoint).toContain('/opt/durable-ptc/runner.py')
      expect([Volumes ?? {}, Mounts, Healthcheck]).toEqual([{}, [], { Test: ['NONE'] }])
    })
  })

  it('nothing is left: no process, no network, no volume, and no container (which every attack looks for)', async () => {
    expect(users).toHaveLength(3)
    expect(users.flatMap(processesOf)).toEqual([])
    expect(await belongings()).toEqual(before)
  })
})
