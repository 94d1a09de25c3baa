import type { WorkflowHandle } from '@temporalio/client'
import { expect, inject } from 'vitest'
import type { AgentResult } from '../../src/common/runs.js'
import type { JsonObject } from '../../src/common/json.js'
import { answerResult, call, code, turn } from '../support/script.js'
import { messagesOf, Stack, type StackOptions } from '../support/stack.js'
import { Happening, tool } from '../support/tools.js'

export type Backend = 'docker' | 'wasm'

/** Where these tests can run here; a machine without Docker says so in the suite that needs it. */
export const backends: readonly Backend[] = inject('docker') === 'available' ? ['docker', 'wasm'] : ['wasm']

/** What came of an agent whose sandbox was lost while its code waited for the tool `wait`. */
export interface Rebuilt {
  readonly result: AgentResult
  /** Arguments of every call of `note`, in order: the effects. */
  readonly notes: readonly JsonObject[]
  /** What the model was told of each cell. */
  readonly told: readonly unknown[]
  /** Milliseconds since the epoch when `wait` was answered. */
  readonly releasedAt: number
  readonly stack: Stack
  readonly handle: WorkflowHandle
}

/** In place of a cell: the model itself waits, between two cells. */
export const modelWaits = Symbol('the model calls wait')

/**
 * Runs cells, one a turn, on an agent; while `wait` waits, the sandbox is taken away. Afterwards a second one must have been
 * made, nothing may be left, and the history must replay.
 */
export async function lostInTheMiddle(
  backend: Backend,
  cells: readonly (string | typeof modelWaits)[],
  options: StackOptions = {},
): Promise<Rebuilt> {
  const asked = new Happening()
  const go = new Happening<string>()
  const notes: JsonObject[] = []
  const stack = await Stack.start({
    backend,
    tools: [
      tool('note', (note) => notes.push(note)),
      tool('echo', ({ value }) => value),
      tool('wait', () => {
        asked.happen()
        return go.happened
      }),
    ],
    script: [...cells.map((cell) => turn(cell === modelWaits ? call('wait') : code(cell))), answerResult],
    ...options,
    // An embedded sandbox is nobody's to kill from outside: it is given back, which is the same way back. Not so soon that it
    // would be for any other call, or any turn of the model, that takes a while.
    timings: backend === 'wasm' ? { park: '4s', idle: '4s' } : {},
  })
  const handle = await stack.startAgent()
  await asked.happened
  if (backend === 'docker') await stack.killContainer(handle)
  else await expect.poll(() => summaries(stack)).toContain('park the session')
  const releasedAt = Date.now()
  go.happen('waited')
  const result = (await handle.result()) as AgentResult
  await stack.leftClean(handle)
  const sent = messagesOf(stack.api.requests.at(-1)?.body).filter(({ role }) => role === 'user')
  const told = sent.slice(1).map(({ content }) => (content as readonly unknown[])[0])
  return { result, notes, told, releasedAt, stack, handle }
}

/** Of the activities of the last history of a run. */
export async function summaries(stack: Stack): Promise<readonly (string | undefined)[]> {
  return (await stack.activities()).map(({ summary }) => summary)
}
