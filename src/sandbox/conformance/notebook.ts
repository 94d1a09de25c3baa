import { createHash, type Hash, randomUUID } from 'node:crypto'
import type { JsonValue } from '../../common/json.js'
import { PtcError } from '../../common/errors.js'
import { defaultLimits, type Limits } from '../../common/limits.js'
import type { CallOutcome } from '../../common/outcomes.js'
import type { DeliveredResult, RequestedCall, SessionRef, StepAnswer, StepInput } from '../../common/steps.js'
import { heldElsewhere, type HeldElsewhere } from '../../common/values.js'
import type { SandboxBackend, SandboxSpec } from '../backend.js'
import type { ToolSignature } from '../protocol/messages.js'
import { SessionHost } from '../session-host.js'
import type { ReadValue } from '../value-transfer.js'

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
  /** JSON texts by hash; a test may replace how they are read. */
  readonly #values = new Map<string, () => Iterable<string>>()
  readValue: ReadValue = ({ sha256 }) => inChunks(this.#values.get(sha256))
  step = 0
  now = 0
  cell = 0
  #answeredAt = 0

  constructor(backend: SandboxBackend, limits: Partial<Limits> = {}, session?: SessionRef) {
    this.limits = { ...defaultLimits, ...limits }
    this.host = new SessionHost({ namespace, backends: [backend], tools: notebookTools })
    this.session = session ?? { id: `test-${randomUUID()}`, epoch: 1, backend: backend.name, startedAt: Date.now() }
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

  /** Keeps a value outside of the steps, whatever its size. */
  keep(value: JsonValue): HeldElsewhere {
    const json = JSON.stringify(value)
    const digest = createHash('sha256').update(json)
    return this.#keep(digest, Buffer.byteLength(json), function* () {
      // In chunks that end anywhere.
      for (let at = 0; at < json.length; at += 65_521) yield json.slice(at, at + 65_521)
    })
  }

  /** Keeps a value whose JSON text is made, in ASCII, each time it is read. */
  keepMade(make: () => Iterable<string>): HeldElsewhere {
    const digest = createHash('sha256')
    let bytes = 0
    for (const chunk of make()) {
      digest.update(chunk)
      bytes += chunk.length
    }
    return this.#keep(digest, bytes, make)
  }

  #keep(digest: Hash, bytes: number, make: () => Iterable<string>): HeldElsewhere {
    const sha256 = digest.digest('hex')
    this.#values.set(sha256, make)
    return heldElsewhere({ sha256, bytes, preview: '' })
  }

  advance(input: StepInput): Promise<StepAnswer> {
    this.step += 1
    return this.send(this.step, input)
  }

  /** Time in which the code did not wait, but was at work. */
  pass(milliseconds: number): void {
    this.now += milliseconds
    this.#answeredAt += milliseconds
  }

  send(number: number, input: StepInput, attempt = 1): Promise<StepAnswer> {
    const { readValue, now } = this
    const waited = now - this.#answeredAt
    this.#answeredAt = now
    const options = { attempt, signal: AbortSignal.timeout(patienceMs), onOutput: () => undefined, readValue }
    return this.host.advance(this.session, { number, now, waited, input }, this.owner, options)
  }

  async close(): Promise<void> {
    await this.host.close(this.session)
  }
}

async function* inChunks(make: (() => Iterable<string>) | undefined): AsyncGenerator<string> {
  if (make === undefined) throw new PtcError('VALUE_MISSING', 'the test kept no such value')
  yield* make()
}
