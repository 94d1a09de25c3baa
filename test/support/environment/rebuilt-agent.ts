import type { WorkflowHandle } from '@temporalio/client'
import { expect } from 'vitest'
import type { AgentResult } from '../../../src/common/runs.js'
import type { JsonObject } from '../../../src/common/json.js'
import { answerResult, call, code, turn } from '../script.js'
import { activitySummaries } from './activity-summaries.js'
import type { Backend } from './backends.js'
import { requestMessages, TestEnvironment, type TestEnvironmentOptions } from './test-environment.js'
import { Deferred, tool } from '../tools.js'

/** What came of an agent whose sandbox was lost while its code waited for the tool `wait`. */
export interface RebuiltRun {
  readonly result: AgentResult
  /** Arguments of every call of `note`, in order: the effects. */
  readonly notes: readonly JsonObject[]
  /** What the model was told of each cell. */
  readonly cellResults: readonly unknown[]
  /** Milliseconds since the epoch when `wait` was answered. */
  readonly releasedAt: number
  readonly env: TestEnvironment
  readonly handle: WorkflowHandle
}

/** In place of a cell: the model itself waits, between two cells. */
export const modelCallsWait = Symbol('the model calls wait')

/**
 * Runs cells, one a turn, on an agent; while `wait` waits, the sandbox is taken away. Afterwards a second one must have been
 * made, nothing may be left, and the history must replay.
 */
export async function runWithLostSandbox(
  backend: Backend,
  cells: readonly (string | typeof modelCallsWait)[],
  options: TestEnvironmentOptions = {},
): Promise<RebuiltRun> {
  const asked = new Deferred()
  const go = new Deferred<string>()
  const notes: JsonObject[] = []
  const env = await TestEnvironment.start({
    backend,
    tools: [
      tool('note', (note) => notes.push(note)),
      tool('echo', ({ value }) => value),
      tool('wait', () => {
        asked.resolve()
        return go.promise
      }),
    ],
    script: [...cells.map((cell) => turn(cell === modelCallsWait ? call('wait') : code(cell))), answerResult],
    ...options,
    // An embedded sandbox is nobody's to kill from outside: it is given back, which is the same way back. Not so soon that it
    // would be for any other call, or any turn of the model, that takes a while.
    timeouts: backend === 'wasm' ? { park: '4s', idle: '4s' } : {},
  })
  const handle = await env.startAgent()
  await asked.promise
  if (backend === 'docker') await env.killContainers(handle)
  else await expect.poll(() => activitySummaries(env)).toContain('park the session')
  const releasedAt = Date.now()
  go.resolve('waited')
  const result = (await handle.result()) as AgentResult
  await env.expectCleanEnd(handle)
  const sent = requestMessages(env.api.requests.at(-1)?.body).filter(({ role }) => role === 'user')
  const cellResults = sent.slice(1).map(({ content }) => (content as readonly unknown[])[0])
  return { result, notes, cellResults, releasedAt, env, handle }
}
