import { randomUUID } from 'node:crypto'
import { defaultLimits } from '../../dist/common/limits.js'
import type { BackendName } from '../../dist/common/plan.js'
import type { SessionRef, Step, StepAnswer, StepInput } from '../../dist/common/steps.js'
import type { SandboxBackend } from '../../dist/sandbox/backend.js'
import { createDockerBackend, type DockerBackend } from '../../dist/sandbox/docker/index.js'
import { SessionHost } from '../../dist/sandbox/session-host.js'
import type { ReadValue } from '../../dist/sandbox/value-transfer.js'
import { loadConfig } from '../../dist/worker/index.js'
import type { BenchContext } from './benchmark.js'
import { configFile } from './stack.js'

/** Containers of benchmarks are told apart by it, whatever else runs on the daemon. */
export const namespace = 'ptc-bench'

/** Sessions that are open now: an interrupted benchmark must not leave their sandboxes behind. */
const open = new Set<BenchSession>()

/** One session, driven as an activity would. */
export interface BenchSession {
  readonly ref: SessionRef
  readonly workflowId: string
  advance(input: StepInput): Promise<StepAnswer>
  close(): Promise<void>
}

/** @param warm containers kept started */
export async function prepareDocker({ tell }: BenchContext, warm = 0): Promise<DockerBackend> {
  const backend = createDockerBackend({ warm, owner: namespace })
  await backend.ensureImage({ onProgress: tell })
  return backend
}

/** A host without Temporal around it. It closes its backend with itself. */
export async function startHost(backend: SandboxBackend, { atEnd }: BenchContext): Promise<SessionHost> {
  const { registry } = await loadConfig(configFile)
  const host = new SessionHost({ namespace, backends: [backend], tools: registry.signatures() })
  atEnd(async () => {
    await Promise.all([...open].map((session) => session.close()))
    await host.shutdown()
  })
  return host
}

/** @param readValue for a benchmark whose steps refer to values */
export async function openSession(
  host: SessionHost,
  backend: BackendName,
  readValue: ReadValue = noValues,
): Promise<BenchSession> {
  const id = randomUUID()
  const workflowId = `bench-${id}`
  const owner = { workflowId, runId: id, limits: defaultLimits }
  const { signal } = new AbortController()
  const { session } = await host.open({ id, epoch: 1, backend }, owner, signal)
  let steps = 0
  const opened: BenchSession = {
    ref: session,
    workflowId,
    advance(input) {
      steps += 1
      const step: Step = { number: steps, now: steps, input }
      return host.advance(session, step, owner, { attempt: 1, onOutput: () => undefined, readValue, signal })
    },
    async close() {
      open.delete(opened)
      await host.close(session)
    },
  }
  open.add(opened)
  return opened
}

const noValues: ReadValue = () => {
  throw new Error('this benchmark keeps no values')
}

/** @throws Error unless the cell ran to its end */
export async function runCell(session: BenchSession, source: string): Promise<void> {
  const answer = await session.advance({ type: 'cell', cell: 1, source })
  if (answer.type !== 'completed') throw new Error(`the measured cell did not complete: ${JSON.stringify(answer)}`)
}
