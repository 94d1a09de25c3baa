import { createHash, type Hash, randomUUID } from 'node:crypto'
import { defined } from '../../common/defined.js'
import type { JsonValue } from '../../common/json/json.js'
import { defaultLanguageName } from '../../common/names.js'
import { PtcError } from '../../common/errors.js'
import { defaultLimits, type Limits } from '../../common/run/limits.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { DeliveredResult, RequestedCall, StepResult, StepInput } from '../../common/session/steps.js'
import type { SessionRef } from '../../common/session/session.js'
import { externalValue, type ExternalValue } from '../../common/json/external-value.js'
import type { SandboxBackend, SandboxSpec } from '../backend.js'
import type { NetworkAccess } from '../network/access.js'
import type { EgressProxyOptions } from '../network/egress-proxy.js'
import type { SandboxFiles } from '../sandbox-files.js'
import type { ToolSignature } from '../protocol/messages.js'
import { SessionHost } from '../session/session-host.js'
import type { ReadValue } from '../session/value-transfer.js'

/** Handles a tool call and returns its outcome. */
type ToolHandler = (call: RequestedCall) => CallOutcome

/** A tool that returns its arguments. */
export const echoTool: ToolHandler = ({ arguments: args }) => ({ status: 'ok', value: args })

/** The tools of a session: `get(a, b=None)`, and `rent`, which has an argument with the name of a Python keyword. */
export const harnessTools: readonly ToolSignature[] = [
  { name: 'get', parameters: ['a', 'b'], required: ['a'], documentation: 'Gets a thing.' },
  { name: 'rent', parameters: ['from'], required: ['from'], documentation: 'Rents a thing.' },
]

const namespace = 'test'

/** Longer than any step takes, also on a slow machine. */
const timeoutMs = 150_000

/** What a run adds to its cells. */
type CellOptions = Pick<Extract<StepInput, { type: 'cell' }>, 'restricted' | 'checked' | 'language'>

interface CellRun {
  /** The step results in order; the last is final. */
  readonly stepResults: readonly StepResult[]
  readonly finalResult: StepResult
  readonly output: string
  readonly calls: readonly RequestedCall[]
}

/** Drives a session as the workflow does, without Temporal, so that a test can inspect each step. */
export class SessionHarness {
  readonly host: SessionHost
  readonly limits: Limits
  readonly language: string
  readonly session: SessionRef
  /** JSON texts by hash; a test may replace `readValue`. */
  readonly #values = new Map<string, () => Iterable<Uint8Array>>()
  readValue: ReadValue = ({ sha256 }) => readChunks(this.#values.get(sha256))
  /** The files of the sandbox. Set them before `open`. */
  files: SandboxFiles | undefined
  /** What code may do with the network. Set it before `open`. */
  network: NetworkAccess | undefined
  /** Receives output that the sandbox sends before the end of a step. */
  onOutput: (text: string) => void = () => undefined
  step = 0
  /** Number of steps with a result in the history; undefined: all before the current one. */
  recorded: number | undefined
  now = 0
  cell = 0
  #lastResultAt = 0

  constructor(
    backend: SandboxBackend,
    limits: Partial<Limits> = {},
    session?: SessionRef,
    language: string = defaultLanguageName,
    proxy?: EgressProxyOptions,
  ) {
    this.language = language
    this.limits = { ...defaultLimits, ...limits }
    this.host = new SessionHost({ namespace, backends: [backend], tools: harnessTools, ...defined({ proxy }) })
    this.session = session ?? { id: `test-${randomUUID()}`, epoch: 1, backend: backend.name, startedAt: Date.now() }
  }

  async open(): Promise<this> {
    await this.host.open(this.session, this.sessionSpec, AbortSignal.timeout(timeoutMs))
    return this
  }

  get sessionSpec() {
    const { language, limits, files } = this
    const network = this.network && (true as const)
    return { workflowId: 'test', runId: 'test', language, limits, ...defined({ files, network }) }
  }

  /** The specification that the backend receives for this session. */
  get sandboxSpec(): SandboxSpec {
    return { namespace, session: this.session.id, epoch: this.session.epoch, ...this.sessionSpec }
  }

  /** Runs a cell to its end: handles all calls of a suspension, and advances the time to its timer. */
  async runCell(source: string, handleCall: ToolHandler = echoTool, options: CellOptions = {}): Promise<CellRun> {
    const stepResults = [await this.startCell(source, options)]
    for (;;) {
      const last = stepResults.at(-1)
      if (last?.type !== 'suspended') break
      this.now += last.wakeInMs ?? 10
      const results: DeliveredResult[] = last.calls.map((call) => ({ index: call.index, outcome: handleCall(call) }))
      stepResults.push(await this.executeStep({ type: 'results', results }))
    }
    const finalResult = stepResults.at(-1)
    if (!finalResult) throw new Error('a cell has at least one step result')
    const output = stepResults.map((stepResult) => ('output' in stepResult ? stepResult.output : '')).join('')
    const calls = stepResults.flatMap((stepResult) => (stepResult.type === 'suspended' ? stepResult.calls : []))
    return { stepResults, finalResult, output, calls }
  }

  /** Starts the next cell: its first step. */
  startCell(source: string, options: CellOptions = {}): Promise<StepResult> {
    this.cell += 1
    return this.executeStep({ type: 'cell', cell: this.cell, source, ...options })
  }

  /** Stores a value outside of the steps, regardless of its size. */
  storeValue(value: JsonValue): ExternalValue {
    const json = Buffer.from(JSON.stringify(value))
    const digest = createHash('sha256').update(json)
    return this.#store(digest, json.length, function* () {
      // Chunks may end within a character.
      for (let at = 0; at < json.length; at += 65_521) yield json.subarray(at, at + 65_521)
    })
  }

  /** Stores a value by a generator of its JSON text, in ASCII. Each read generates the text. */
  storeGenerated(generate: () => Iterable<string>): ExternalValue {
    const digest = createHash('sha256')
    let bytes = 0
    for (const chunk of generate()) {
      digest.update(chunk)
      bytes += chunk.length
    }
    return this.#store(digest, bytes, function* () {
      for (const chunk of generate()) yield Buffer.from(chunk)
    })
  }

  #store(digest: Hash, bytes: number, generate: () => Iterable<Uint8Array>): ExternalValue {
    const sha256 = digest.digest('hex')
    this.#values.set(sha256, generate)
    return externalValue({ sha256, bytes, preview: '' })
  }

  executeStep(input: StepInput): Promise<StepResult> {
    this.step += 1
    return this.sendStep(this.step, input)
  }

  /** Advances the time by computing, during which the code does not wait. */
  addComputeTime(milliseconds: number): void {
    this.now += milliseconds
    this.#lastResultAt += milliseconds
  }

  sendStep(number: number, input: StepInput, attempt = 1): Promise<StepResult> {
    const { readValue, now, recorded } = this
    const waited = now - this.#lastResultAt
    this.#lastResultAt = now
    const { onOutput, network } = this
    const options = { attempt, signal: AbortSignal.timeout(timeoutMs), onOutput, readValue, network }
    const step = { number, now, waited, input, ...defined({ recorded }) }
    return this.host.executeStep(this.session, step, this.sessionSpec, options)
  }

  async close(): Promise<void> {
    await this.host.close(this.session)
  }
}

async function* readChunks(generate: (() => Iterable<Uint8Array>) | undefined): AsyncGenerator<Uint8Array> {
  if (generate === undefined) throw new PtcError('VALUE_MISSING', 'the test stored no such value')
  yield* generate()
}
