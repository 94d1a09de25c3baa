import { randomUUID } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { defaultLimits } from '../../../src/common/run/limits.js'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { SessionHost } from '../../../src/sandbox/session/session-host.js'
import { reap } from '../../../src/worker/resources/reaper.js'
import { describeDocker } from '../../support/docker/describe-docker.js'

describeDocker('the reaper', () => {
  it('the reaper removes sandboxes whose workflow has ended, and no others', async () => {
    const owner = `reaper-${randomUUID()}`
    const docker = createDockerBackend()
    const host = new SessionHost({ namespace: owner, backends: [docker], tools: [] })
    const other = new SessionHost({ namespace: `${owner}-other`, backends: [docker], tools: [] })
    const open = (where: SessionHost, workflowId: string) => {
      const session = { id: workflowId, epoch: 1, backend: 'docker' as const, startedAt: 0 }
      return where.open(
        session,
        { workflowId, runId: 'run', language: 'python', limits: defaultLimits },
        AbortSignal.timeout(120_000),
      )
    }
    try {
      await Promise.all([open(host, 'alive'), open(host, 'over'), open(other, 'over')])
      const lines: string[] = []
      await reap({
        docker,
        host,
        owner,
        isRunning: (id) => Promise.resolve(id === 'alive'),
        onProgress: (line) => lines.push(line),
      })
      expect((await docker.listSandboxes(owner)).map(({ workflowId }) => workflowId)).toEqual(['alive'])
      expect(await docker.listSandboxes(`${owner}-other`)).toHaveLength(1)
      expect(lines).toEqual(['removed 1 unused sandboxes'])
    } finally {
      for (const namespace of [owner, `${owner}-other`]) {
        for (const { id } of await docker.listSandboxes(namespace)) await docker.remove(id)
      }
      await docker.close()
    }
  })

  it('F34: the reaper removes no sandbox of an open run with any clock, except those replaced by a rebuild', async () => {
    const owner = `reaper-${randomUUID()}`
    const docker = createDockerBackend()
    const worker = new SessionHost({ namespace: owner, backends: [docker], tools: [] })
    for (const epoch of [1, 2]) {
      const session = { id: 'alive', epoch, backend: 'docker' as const, startedAt: 0 }
      const { signal } = new AbortController()
      await worker.open(
        session,
        { workflowId: 'alive', runId: 'run', language: 'python', limits: defaultLimits },
        signal,
      )
    }
    const epochs = async () =>
      (await docker.listSandboxes(owner)).map(({ id }) => id.epoch).toSorted((one, other) => one - other)
    // Another process on the same host that owns none of them. Sandboxes of other tests must not see this clock.
    const host = new SessionHost({ namespace: owner, backends: [docker], tools: [] })
    const narrowed: typeof docker = {
      ...docker,
      removeExpired: (options) => docker.removeExpired({ ...options, namespace: owner }),
    }
    const now = Date.now
    const roundAt = async (hours: number) => {
      const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + hours * 3_600_000)
      try {
        const lines: string[] = []
        const onProgress = (line: string): void => void lines.push(line)
        await reap({ docker: narrowed, host, owner, isRunning: () => Promise.resolve(true), onProgress })
        expect(clock).toHaveBeenCalled()
        return lines
      } finally {
        clock.mockRestore()
      }
    }
    try {
      expect(await roundAt(6.5)).toEqual([])
      expect(await epochs()).toEqual([1, 2])
      expect(await roundAt(100)).toEqual(['removed 1 unused sandboxes'])
      expect(await epochs()).toEqual([2])
    } finally {
      for (const { id } of await docker.listSandboxes(owner)) await docker.remove(id)
      await docker.close()
    }
  })

  it('the reaper reports that its search failed, and does not throw', async () => {
    const docker = createDockerBackend()
    const host = new SessionHost({ namespace: 'nobody', backends: [docker], tools: [] })
    const lines: string[] = []
    const isRunning = () => Promise.reject(new Error('no Temporal'))
    const owner = `reaper-${randomUUID()}`
    const session = { id: 'any', epoch: 1, backend: 'docker' as const, startedAt: 0 }
    const mine = new SessionHost({ namespace: owner, backends: [docker], tools: [] })
    await mine.open(
      session,
      { workflowId: 'any', runId: 'run', language: 'python', limits: defaultLimits },
      AbortSignal.timeout(120_000),
    )
    try {
      await reap({ docker, host, owner, isRunning, onProgress: (line) => lines.push(line) })
      expect(lines).toEqual(['abandoned sandboxes could not be looked for: no Temporal'])
    } finally {
      await mine.close(session)
      await docker.close()
    }
  })
})
