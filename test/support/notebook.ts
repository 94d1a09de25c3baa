import { createHash, type Hash, randomUUID } from 'node:crypto'
import type { JsonValue } from '../../src/common/json.js'
import { PtcError } from '../../src/common/errors.js'
import { defaultLimits, type Limits } from '../../src/common/limits.js'
import type { CallOutcome } from '../../src/common/outcomes.js'
import type { DeliveredResult, RequestedCall, SessionRef, StepAnswer, StepInput } from '../../src/common/steps.js'
import { heldElsewhere, type HeldElsewhere } from '../../src/common/values.js'
import type { SandboxBackend } from '../../src/sandbox/backend.js'
import type { ToolSignature } from '../../src/sandbox/protocol/messages.js'
import { SessionHost } from '../../src/sandbox/session-host.js'
import type { ReadValue } from '../../src/sandbox/value-transfer.js'

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
  /** JSON texts by hash; a test may replace how they are read. */
  readonly #values = new Map<string, () => Iterable<string>>()
  readValue: ReadValue = ({ sha256 }) => inChunks(this.#values.get(sha256))
  step = 0
  now = 0
  cell = 0

  constructor(backend: SandboxBackend, limits: Partial<Limits> = {}, session?: SessionRef) {
    this.limits = { ...defaultLimits, ...limits }
    this.host = new SessionHost({ namespace: 'test', backends: [backend], tools: testTools })
    this.session = session ?? { id: `test-${randomUUID()}`, epoch: 1, backend: backend.name }
  }

  async open(): Promise<this> {
    await this.host.open(this.session, this.owner, AbortSignal.timeout(60_000))
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

  send(number: number, input: StepInput, attempt = 1): Promise<StepAnswer> {
    const { readValue } = this
    const options = { attempt, signal: AbortSignal.timeout(60_000), onOutput: () => undefined, readValue }
    return this.host.advance(this.session, { number, now: this.now, input }, this.owner, options)
  }

  async close(): Promise<void> {
    await this.host.close(this.session)
  }
}

async function* inChunks(make: (() => Iterable<string>) | undefined): AsyncGenerator<string> {
  if (make === undefined) throw new PtcError('VALUE_MISSING', 'the test kept no such value')
  yield* make()
}
