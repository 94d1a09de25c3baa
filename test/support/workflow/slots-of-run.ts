import { expect, vi } from 'vitest'
import type { CallIdentity } from '../../../src/common/calls/calls.js'
import type { CallOutcome } from '../../../src/common/calls/outcomes.js'
import type { RequestSlotInput, SlotAnswer } from '../../../src/common/calls/tool-slots.js'
import type { ToolConfig } from '../../../src/common/calls/tool-config.js'
import type { RunKind } from '../../../src/common/run/runs.js'
import { maxDurationOf } from '../../../src/workflows/calls/call-options.js'
import { isEnded } from '../../../src/workflows/calls/call-state.js'
import { ToolSlots } from '../../../src/workflows/calls/tool-slots.js'
import { WaitingCalls, type WaitingCallState } from '../../../src/workflows/calls/waiting-calls.js'
import { requestSlot } from '../../../src/workflows/temporal/activities.js'
import { Deferred } from '../tools.js'
import { settle, takeSent } from './fake-workflow.js'
import { testRun } from './test-run.js'

/*
 * A run with calls of a tool with two slots. A test that uses it replaces `@temporalio/workflow` by the fake workflow,
 * and activity `tool.slot` by a mock.
 */

export const limiter = 'tool-limit:queue:work'
const work: ToolConfig = {
  name: 'work',
  concurrency: 2,
  allowedCallers: ['direct'],
  effect: 'read',
  timeoutMs: 1,
  attempts: 1,
  inputDigest: '',
}
const identityOf = (idempotencyKey: string): CallIdentity => ({
  tool: 'work',
  caller: 'direct',
  position: { turn: 1, cell: 0, index: 1 },
  idempotencyKey,
})

/** Keys of the requests since the last call. */
export function requested(): readonly string[] {
  const inputs = vi
    .mocked(requestSlot)
    .mock.calls.splice(0)
    .map(([input]) => input)
  for (const input of inputs) expect(input).toEqual(requestInput(input.request.key))
  return inputs.map(({ request }) => request.key)
}

function requestInput(key: string): RequestSlotInput {
  const request = { key, workflowId: 'run', slots: 2, maxHoldMs: maxDurationOf(work), mayKeep: true as const }
  return { tool: 'work', limiter, taskQueue: 'queue', request }
}

/** Keys of the slots that were given back since the last call. */
export function released(): readonly string[] {
  return takeSent().map(({ workflowId, signal, input }) => {
    expect({ workflowId, signal }).toEqual({ workflowId: limiter, signal: 'release' })
    return (input as { readonly key: string }).key
  })
}

const limitedCall = (key: string) => ({
  tool: work,
  input: { ...identityOf(key), arguments: { id: 1 } },
  report: () => undefined,
  record: (outcome: CallOutcome) => outcome,
})

/** The slots of a run, and its calls, which a test ends. */
export class SlotsOfRun {
  readonly slots: ToolSlots
  readonly waiting: WaitingCalls
  /** Keys of calls in the order of their start. */
  readonly begun: string[] = []
  readonly begunAtOnce: string[] = []
  readonly refusals: Record<string, string> = {}
  readonly #ends = new Map<string, Deferred>()

  constructor(state?: readonly WaitingCallState[], kind: RunKind = 'program') {
    this.waiting = new WaitingCalls(state)
    this.slots = new ToolSlots(testRun({ kind, config: { tools: [work] } }), this.waiting)
  }

  /** Settles when the call has ended. */
  async call(key: string, execute = (hasWaited: boolean) => this.#execute(key, hasWaited)): Promise<string> {
    try {
      const outcome = await this.slots.run(limitedCall(key), execute)
      if (outcome.status === 'denied') this.refusals[key] = outcome.message
      return 'ended'
    } catch (thrown) {
      return (thrown as Error).message
    } finally {
      const call = this.waiting.get(key)
      if (call && !isEnded(call.state)) this.waiting.remove(call)
    }
  }

  async #execute(key: string, hasWaited: boolean): Promise<CallOutcome> {
    const end = new Deferred()
    this.#ends.set(key, end)
    this.begun.push(key)
    if (!hasWaited) this.begunAtOnce.push(key)
    await end.promise
    return { status: 'ok', value: null }
  }

  /** The calls for the next execution of the run: key and state. */
  get state(): readonly (readonly [string, string])[] {
    return this.waiting.state.map(({ idempotencyKey, state }) => [idempotencyKey, state.type])
  }

  async calls(...keys: readonly string[]): Promise<void> {
    for (const key of keys) void this.call(key)
    await settle()
  }

  async answer(
    key: string,
    answer: SlotAnswer['answer'] = 'granted',
    kept: Pick<SlotAnswer, 'keepMs' | 'isRecalled'> = {},
  ): Promise<boolean> {
    const isKnown = this.slots.answer({ key, limiter, answer, ...kept })
    await settle()
    return isKnown
  }

  async end(key: string): Promise<void> {
    this.#ends.get(key)?.resolve()
    await settle()
  }
}
