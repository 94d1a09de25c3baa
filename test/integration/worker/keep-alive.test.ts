import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { defaultLimits } from '../../../src/common/run/limits.js'
import { createDockerBackend, type DockerBackend } from '../../../src/sandbox/docker/index.js'
import { startKeepAlive } from '../../../src/worker/resources/keep-alive.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { execInContainer } from '../../support/docker/exec-in-container.js'

async function openSandbox(docker: DockerBackend, namespace: string): Promise<string> {
  const spec = {
    namespace,
    session: randomUUID(),
    epoch: 1,
    workflowId: 'wf',
    runId: 'run',
    language: 'python',
    limits: defaultLimits,
  }
  const connection = await docker.open(spec, AbortSignal.timeout(120_000))
  onTestFinished(async () => {
    await connection.detach()
    await docker.remove(spec)
  })
  const sandboxes = await docker.listSandboxes(namespace)
  return sandboxes[0]?.containerId ?? ''
}

/** Connections to the daemon that keep this process alive. */
function openPipes(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'PipeWrap').length
}

/** Behaves like a daemon that does not answer. */
function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
}

describeDocker('the keep-alive of a worker', () => {
  it('the keep-alive reaches the sandboxes of its namespace at once, and no others', async () => {
    const docker = createDockerBackend()
    onTestFinished(() => docker.close())
    await docker.ensureImage()
    const [owner, other] = [`keep-${randomUUID()}`, `keep-${randomUUID()}`]
    const [mine, theirs] = await Promise.all([openSandbox(docker, owner), openSandbox(docker, other)])
    const isKeptAlive = (container: string) =>
      execInContainer(container, ['test', '-e', '/run/durable-ptc/keep-alive']).then((code) => code === 0)

    const lines: string[] = []
    const before = openPipes()
    const keepAlive = startKeepAlive({ docker, owner, onProgress: (line) => lines.push(line) })
    await expect.poll(() => isKeptAlive(mine)).toBe(true)
    await keepAlive.close()
    // A connection that stayed open would keep the worker process alive.
    await expect.poll(openPipes, { timeout: 20_000 }).toBe(before)
    expect(await isKeptAlive(theirs)).toBe(false)
    expect(lines).toEqual([])
  })

  it('the keep-alive ends at once when the worker stops while a call has no answer', async () => {
    const hanging: DockerBackend = {
      ...createDockerBackend(),
      keepAlive: (_owner, signal) => rejectWhenAborted(signal ?? new AbortController().signal),
    }
    const lines: string[] = []
    await startKeepAlive({ docker: hanging, owner: 'o', onProgress: (line) => lines.push(line) }).close()
    expect(lines).toEqual([])
  })

  it('the keep-alive reports a daemon that does not answer, and does not throw', async () => {
    const failing = { ...createDockerBackend(), keepAlive: () => Promise.reject(new Error('no daemon')) }
    const lines: string[] = []
    await startKeepAlive({ docker: failing, owner: 'o', onProgress: (line) => lines.push(line) }).close()
    expect(lines).toEqual(['sandboxes not kept alive: no daemon'])
  })
})
