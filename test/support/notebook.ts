import { randomUUID } from 'node:crypto'
import { defaultLimits, type Limits } from '../../src/common/limits.js'
import type { CallOutcome } from '../../src/common/outcomes.js'
import type { DeliveredResult, RequestedCall, SessionRef, StepAnswer, StepInput } from '../../src/common/steps.js'
import type { SandboxBackend } from '../../src/sandbox/backend.js'
import type { ToolSignature } from '../../src/sandbox/protocol/messages.js'
import { SessionHost } from '../../src/sandbox/session-host.js'

export type Serve = (call: RequestedCall) => CallOutcome

export const echo: Serve = ({ arguments: args }) => ({ status: 'ok', value: args })

/** The tools of the conformance suite: `get(a, b=None)`. */
export const testTools: readonly ToolSignature[] = [
  { name: 'get', parameters: ['a', 'b'], required: ['a'], documentation: 'Gets a thing.' },
]

export interface CellRun {
  /** The answers in order; the last is final. */
  readonly answers: readonly StepAnswer[]
  readonly final: StepAnswer
  readonly output: string
  readonly calls: readonly RequestedCall[]
}

/** Drives a session as the workflow does, without Temporal: one that a test can look at step by step. */
export class TestNotebook {
  readonly host: SessionHost
  readonly limits: Limits
  readonly session: SessionRef
  step = 0
  now = 0
  cell = 0

  constructor(backend: SandboxBackend, limits: Partial<Limits> = {}, session?: SessionRef) {
    this.limits = { ...defaultLimits, ...limits }
    this.host = new SessionHost({ namespace: 'test', backends: [backend], tools: testTools })
    this.session = session ?? { id: `test-${randomUUID()}`, epoch: 1, backend: backend.name }
  }

  async open(): Promise<this> {
    await this.host.open(this.session, this.owner, AbortSignal.timeout(150_000))
    return this
  }

  get owner() {
    return { workflowId: 'test', runId: 'test', limits: this.limits }
  }

  /** Runs a cell to its end; every suspension is answered with all of its calls, and a timer by letting time pass. */
  async run(source: string, serve: Serve = echo): Promise<CellRun> {
    this.cell += 1
    const answers = [await this.advance({ type: 'cell', cell: this.cell, source })]
    for (;;) {
      const last = answers.at(-1)
      if (last?.type !== 'suspended') break
      this.now += last.wakeInMs ?? 10
      const results: DeliveredResult[] = last.calls.map((call) => ({ index: call.index, outcome: serve(call) }))
      answers.push(await this.advance({ type: 'results', results }))
    }
    const final = answers.at(-1)
    if (!final) throw new Error('a cell has at least one answer')
    const output = answers.map((answer) => ('output' in answer ? answer.output : '')).join('')
    return {
      answers,
      final,
      output,
      calls: answers.flatMap((answer) => (answer.type === 'suspended' ? answer.calls : [])),
    }
  }

  advance(input: StepInput): Promise<StepAnswer> {
    this.step += 1
    return this.send(this.step, input)
  }

  send(number: number, input: StepInput, attempt = 1): Promise<StepAnswer> {
    const options = { attempt, signal: AbortSignal.timeout(150_000), onOutput: () => undefined }
    return this.host.advance(this.session, { number, now: this.now, input }, this.owner, options)
  }

  async close(): Promise<void> {
    await this.host.close(this.session)
  }
}
