import type { WorkflowHandle } from '@temporalio/client'
import { expect } from 'vitest'
import type { AgentResult } from '../../../src/common/run/runs.js'
import type { JsonObject } from '../../../src/common/json/json.js'
import { answerResult, call, code, turn } from '../script.js'
import { activitySummaries } from './activity-summaries.js'
import type { Backend } from './backends.js'
import { requestMessages, TestEnvironment, type TestEnvironmentOptions } from './test-environment.js'
import { Deferred, tool } from '../tools.js'

/** The result of an agent whose sandbox was lost while its code waited for the tool `wait`. */
export interface RebuiltRun {
  readonly result: AgentResult
  /** Arguments of every call of `note`, in order: the effects. */
  readonly notes: readonly JsonObject[]
  /** The tool result of each cell. */
  readonly cellResults: readonly unknown[]
  /** Milliseconds since the epoch at which `wait` returned. */
  readonly releasedAt: number
  readonly env: TestEnvironment
  readonly handle: WorkflowHandle
}

/** Replaces a cell: the model calls `wait` directly, between two cells. */
export const modelCallsWait = Symbol('the model calls wait')

/**
 * Runs one cell per turn on an agent, and removes its sandbox while `wait` waits. Expects that no container is left and
 * that the history replays.
 */
export async function runWithLostSandbox(
  backend: Backend,
  cells: readonly (string | typeof modelCallsWait)[],
  options: TestEnvironmentOptions = {},
): Promise<RebuiltRun> {
  const called = new Deferred()
  const go = new Deferred<string>()
  const notes: JsonObject[] = []
  const env = await TestEnvironment.start({
    backend,
    tools: [
      tool('note', (note) => notes.push(note)),
      tool('echo', ({ value }) => value),
      tool('wait', () => {
        called.resolve()
        return go.promise
      }),
    ],
    script: [...cells.map((cell) => turn(cell === modelCallsWait ? call('wait') : code(cell))), answerResult],
    ...options,
    // An embedded sandbox can't be killed from outside. It is parked instead, and the session is rebuilt, too. The
    // timeouts are long enough that no other call or model turn parks it.
    timeouts: backend === 'wasm' ? { park: '4s', idle: '4s' } : {},
  })
  const handle = await env.startAgent()
  await called.promise
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
