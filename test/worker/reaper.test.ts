import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { defaultLimits } from '../../src/common/limits.js'
import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { SessionHost } from '../../src/sandbox/session-host.js'
import { reap } from '../../src/worker/reaper.js'
import { describeDocker } from '../support/docker.js'

describeDocker('the reaper', () => {
  it('removes sandboxes whose workflow is over, and no others', async () => {
    const owner = `reaper-${randomUUID()}`
    const docker = createDockerBackend()
    const host = new SessionHost({ namespace: owner, backends: [docker], tools: [] })
    const other = new SessionHost({ namespace: `${owner}-other`, backends: [docker], tools: [] })
    const open = (where: SessionHost, workflowId: string) => {
      const session = { id: workflowId, epoch: 1, backend: 'docker' as const }
      return where.open(session, { workflowId, runId: 'run', limits: defaultLimits }, AbortSignal.timeout(120_000))
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
      expect(lines).toEqual(['removed 1 sandboxes that nobody used any more'])
    } finally {
      for (const namespace of [owner, `${owner}-other`]) {
        for (const { id } of await docker.listSandboxes(namespace)) await docker.remove(id)
      }
      await docker.close()
    }
  })

  it('reports that it could not look, and does not throw', async () => {
    const docker = createDockerBackend()
    const host = new SessionHost({ namespace: 'nobody', backends: [docker], tools: [] })
    const lines: string[] = []
    const isRunning = () => Promise.reject(new Error('no Temporal'))
    const owner = `reaper-${randomUUID()}`
    const session = { id: 'any', epoch: 1, backend: 'docker' as const }
    const mine = new SessionHost({ namespace: owner, backends: [docker], tools: [] })
    await mine.open(session, { workflowId: 'any', runId: 'run', limits: defaultLimits }, AbortSignal.timeout(120_000))
    try {
      await reap({ docker, host, owner, isRunning, onProgress: (line) => lines.push(line) })
      expect(lines).toEqual(['abandoned sandboxes could not be looked for: no Temporal'])
    } finally {
      await mine.close(session)
      await docker.close()
    }
  })
})
