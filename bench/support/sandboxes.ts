import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { defaultLimits, type Limits } from '../../dist/common/run/limits.js'
import type { BackendName } from '../../src/common/run/run-config.js'
import type { SessionRef } from '../../dist/common/session/session.js'
import type { Step, StepResult, StepInput } from '../../dist/common/session/steps.js'
import type { SandboxBackend } from '../../dist/sandbox/backend.js'
import { createDockerBackend, type DockerBackend } from '../../dist/sandbox/docker/index.js'
import { SessionHost } from '../../dist/sandbox/session/session-host.js'
import type { ReadValue } from '../../dist/sandbox/session/value-transfer.js'
import { loadConfig } from '../../dist/worker/index.js'
import type { BenchContext } from './benchmark.js'
import { configFile } from './stack.js'

/** Identifies the containers of benchmarks on a shared daemon. */
export const namespace = 'ptc-bench'

/** Open sessions. An interrupted benchmark closes them. */
const open = new Set<BenchSession>()

/** A session with the interface for activities. */
export interface BenchSession {
  readonly ref: SessionRef
  readonly workflowId: string
  /** Number of the last step. */
  steps(): number
  /** @param by another host, which attaches. Default: that which opened the session */
  executeStep(input: StepInput, by?: SessionHost): Promise<StepResult>
  close(): Promise<void>
}

/** @param warm size of the pool of idle containers */
export async function createDocker({ progress }: BenchContext, warm = 0): Promise<DockerBackend> {
  const backend = createDockerBackend({ warm, namespace })
  await backend.ensureImage({ onProgress: progress })
  return backend
}

/** A session host without Temporal. It closes its backend. */
export async function createHost(backend: SandboxBackend, { defer }: BenchContext): Promise<SessionHost> {
  const { tools } = await loadConfig(configFile)
  const host = new SessionHost({ namespace, backends: [backend], tools: tools.known.signatures() })
  defer(async () => {
    await Promise.all([...open].map((session) => session.close()))
    await host.shutdown()
  })
  return host
}

interface SessionOptions {
  /** For steps with references to values. Default: there are none. */
  readonly readValue?: ReadValue
  /** Default: Python. */
  readonly language?: string
  readonly limits?: Limits
}

export async function openSession(
  host: SessionHost,
  backend: BackendName,
  { readValue = rejectValues, language = 'python', limits = defaultLimits }: SessionOptions = {},
): Promise<BenchSession> {
  const id = randomUUID()
  const workflowId = `bench-${id}`
  const owner = { workflowId, runId: id, language, limits }
  const { signal } = new AbortController()
  const { session } = await host.open({ id, epoch: 1, backend, startedAt: Date.now() }, owner, signal)
  let steps = 0
  const opened: BenchSession = {
    ref: session,
    workflowId,
    steps: () => steps,
    executeStep(input, by = host) {
      steps += 1
      const step: Step = { number: steps, now: steps, input }
      return by.executeStep(session, step, owner, { attempt: 1, onOutput: () => undefined, readValue, signal })
    },
    async close() {
      open.delete(opened)
      await host.close(session)
    },
  }
  open.add(opened)
  return opened
}

const rejectValues: ReadValue = () => {
  throw new Error('this benchmark has no value store')
}

/** @returns the milliseconds until the first cell of a new session is done */
export async function untilFirstCell(host: SessionHost, backend: BackendName): Promise<number> {
  const start = performance.now()
  const session = await openSession(host, backend)
  try {
    await runCell(session, 'pass')
    return performance.now() - start
  } finally {
    await session.close()
  }
}

/** @throws Error when the cell does not complete */
export async function runCell(session: BenchSession, source: string): Promise<void> {
  const result = await session.executeStep({ type: 'cell', cell: 1, source })
  if (result.type !== 'completed') throw new Error(`the measured cell did not complete: ${JSON.stringify(result)}`)
}

/** Waits until the daemon has no sandbox of these workflows. */
export async function waitUntilRemoved(workflowIds: ReadonlySet<string>): Promise<void> {
  const backend = createDockerBackend()
  while ((await backend.listSandboxes()).some(({ workflowId }) => workflowIds.has(workflowId))) await pause(20)
  await backend.close()
}
