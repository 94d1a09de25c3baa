import { expect, it, onTestFinished } from 'vitest'
import { defaultLimits } from '../../../src/common/run/limits.js'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { SessionHost } from '../../../src/sandbox/session/session-host.js'
import { reap } from '../../../src/worker/resources/reaper.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { uniqueName } from '../../support/temporal/shared-server.js'

const { signal } = new AbortController()
const alive = ['alive-1', 'alive-2', 'alive-3']
const over = ['over-1', 'over-2', 'over-3']

describeDocker('two concurrent reapers', () => {
  it('F36: two concurrent reapers remove only sandboxes of ended runs while sessions are opened', async () => {
    const owner = uniqueName('reapers')
    const docker = createDockerBackend()
    onTestFinished(async () => {
      for (const { id } of await docker.listSandboxes(owner)) await docker.remove(id)
      await docker.close()
    })
    const host = new SessionHost({ namespace: owner, backends: [docker], tools: [] })
    const open = (id: string) =>
      host.open(
        { id, epoch: 1, backend: 'docker', startedAt: 0 },
        { workflowId: id, runId: 'run', language: 'python', limits: defaultLimits },
        signal,
      )
    await Promise.all([...over, 'alive-1'].map(open))

    const lines: string[] = []
    const isRunning = async (workflowId: string): Promise<boolean> => alive.includes(workflowId)
    /** A round of a reaper in a process that owns none of the sessions. */
    const round = (): Promise<void> => {
      const holdsNone = new SessionHost({ namespace: owner, backends: [docker], tools: [] })
      return reap({ docker, host: holdsNone, owner, isRunning, onProgress: (line) => lines.push(line) })
    }
    const opening = Promise.all([open('alive-2'), open('alive-3')])
    await Promise.all([round(), round(), opening])
    await Promise.all([round(), round()])

    expect((await docker.listSandboxes(owner)).map(({ workflowId }) => workflowId).toSorted()).toEqual(alive)
    expect(lines).not.toEqual([])
    for (const line of lines) expect(line).toMatch(/^removed \d unused sandboxes$/)
    const step = { number: 1, now: 0, input: { type: 'cell', cell: 1, source: 'print(6 * 7)' } } as const
    const readValue = () => expect.fail('no step refers to a value')
    for (const id of alive) {
      const options = { attempt: 1, signal, onOutput: () => undefined, readValue }
      const answer = await host.executeStep(
        { id, epoch: 1, backend: 'docker', startedAt: 0 },
        step,
        { limits: defaultLimits },
        options,
      )
      expect(answer).toMatchObject({ type: 'completed', output: '42\n' })
    }
  })
})
