import Dockerode from 'dockerode'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defaultLimits } from '../../src/common/run/limits.js'
import { describeDocker } from '../support/docker/describe-docker.js'
import { AttackEnvironment } from './support/attack-environment.js'
import { userOf } from './support/host-processes.js'
import { unpackHostileArchives } from './support/hostile-archives.js'
import { syscallHelpers } from './support/hostile-code.js'
import { expectContainerSettings, BystanderContainer } from './support/bystander-container.js'

/** The networks and volumes of the daemon. */
async function networksAndVolumes(): Promise<readonly string[]> {
  const docker = new Dockerode()
  const [networks, volumes] = await Promise.all([docker.listNetworks(), docker.listVolumes()])
  return [...networks.map(({ Name }) => Name), ...(volumes.Volumes ?? []).map(({ Name }) => Name)].toSorted()
}

describeDocker('a hostile program and its neighbours', () => {
  let attackEnv: AttackEnvironment
  let before: readonly string[]
  const bystanders = new BystanderContainer()
  beforeAll(async () => {
    before = await networksAndVolumes()
    attackEnv = await AttackEnvironment.start({ tools: [bystanders.wait] })
  })
  afterAll(() => attackEnv.close())

  const beside = (work: (container: Dockerode.ContainerInspectInfo) => Promise<void>) =>
    bystanders.runDuring(attackEnv.env, work)

  it("A21 a hostile program can't see, signal or starve another session, which runs as another user", async () => {
    const { outcome } = await beside(async (container) => {
      const user = userOf(container)
      const answers = await attackEnv.probe(
        `${syscallHelpers}
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
    expect(outcome).toMatchObject({ status: 'ok', output: 'mine\n' })
  })

  it('A22 archive bombs, path traversal, links and devices stay inside the sandbox, and leave no files', async () => {
    const device = await unpackHostileArchives(attackEnv)
    expect(device).toBe('ENOENT')
  })

  it('A23 a hostile program runs with the documented settings, and passes docker-bench (CIS 5)', async () => {
    await beside(async (live) => {
      const { HostConfig: host, Config: config } = live
      expectContainerSettings(live)
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

  it('A24 the image of a hostile program has a content id, and declares no command and no volume', async () => {
    await beside(async ({ Config: { Image, Entrypoint, Volumes, Healthcheck }, Mounts }) => {
      await Promise.resolve()
      expect(Image).toMatch(/^sha256:[0-9a-f]{64}$/)
      expect(Entrypoint).toContain('/opt/durable-ptc/python/runner.py')
      expect([Volumes ?? {}, Mounts, Healthcheck]).toEqual([{}, [], { Test: ['NONE'] }])
    })
  })

  it('attacks leave no process, network or volume (every attack also checks that no container is left)', async () => {
    expect(bystanders.users).toHaveLength(3)
    expect(bystanders.haveExited()).toBe(true)
    expect(await networksAndVolumes()).toEqual(before)
  })
})
