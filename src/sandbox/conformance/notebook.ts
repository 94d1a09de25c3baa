import { randomUUID } from 'node:crypto'
import { defaultLimits, type Limits } from '../../common/limits.js'
import type { CallOutcome } from '../../common/outcomes.js'
import type { DeliveredResult, RequestedCall, SessionRef, StepAnswer, StepInput } from '../../common/steps.js'
import type { SandboxBackend, SandboxSpec } from '../backend.js'
import type { ToolSignature } from '../protocol/messages.js'
import { SessionHost } from '../session-host.js'

/** What a tool answers. */
export type Serve = (call: RequestedCall) => CallOutcome

/** A tool that gives back its arguments. */
export const echo: Serve = ({ arguments: args }) => ({ status: 'ok', value: args })

/** The tools of a notebook: `get(a, b=None)`. */
export const notebookTools: readonly ToolSignature[] = [
  { name: 'get', parameters: ['a', 'b'], required: ['a'], documentation: 'Gets a thing.' },
]

const namespace = 'test'

/** More than any step here takes, however slow the machine. */
const patienceMs = 150_000

export interface CellRun {
  /** The answers in order; the last is final. */
  readonly answers: readonly StepAnswer[]
  readonly final: StepAnswer
  readonly output: string
  readonly calls: readonly RequestedCall[]
}

/** Drives a session as the workflow does, without Temporal: one that a test can look at step by step. */
export class Notebook {
  readonly host: SessionHost
  readonly limits: Limits
  readonly session: SessionRef
  step = 0
  now = 0
  cell = 0

  constructor(backend: SandboxBackend, limits: Partial<Limits> = {}, session?: SessionRef) {
    this.limits = { ...defaultLimits, ...limits }
    this.host = new SessionHost({ namespace, backends: [backend], tools: notebookTools })
    this.session = session ?? { id: `test-${randomUUID()}`, epoch: 1, backend: backend.name }
  }

  async open(): Promise<this> {
    await this.host.open(this.session, this.owner, AbortSignal.timeout(patienceMs))
    return this
  }

  get owner() {
    return { workflowId: 'test', runId: 'test', limits: this.limits }
  }

  /** As the backend is asked for this session. */
  get spec(): SandboxSpec {
    return { namespace, session: this.session.id, epoch: this.session.epoch, ...this.owner }
  }

  /** Runs a cell to its end; every suspension is answered with all of its calls, and a timer by letting time pass. */
  async run(source: string, serve: Serve = echo): Promise<CellRun> {
    const answers = [await this.begin(source)]
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
    const calls = answers.flatMap((answer) => (answer.type === 'suspended' ? answer.calls : []))
    return { answers, final, output, calls }
  }

  /** Starts the next cell: its first step. */
  begin(source: string): Promise<StepAnswer> {
    this.cell += 1
    return this.advance({ type: 'cell', cell: this.cell, source })
  }

  advance(input: StepInput): Promise<StepAnswer> {
    this.step += 1
    return this.send(this.step, input)
  }

  send(number: number, input: StepInput, attempt = 1): Promise<StepAnswer> {
    const options = { attempt, signal: AbortSignal.timeout(patienceMs), onOutput: () => undefined }
    return this.host.advance(this.session, { number, now: this.now, input }, this.owner, options)
  }

  async close(): Promise<void> {
    await this.host.close(this.session)
  }
}
