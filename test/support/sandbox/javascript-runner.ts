import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { javascript } from '../../../src/languages/javascript/index.js'
import { defined } from '../../../src/common/defined.js'
import { encodeMessage, FrameDecoder, parseFrame } from '../../../src/sandbox/protocol/frames.js'
import type { HostMessage, RunnerMessage, ToolSignature } from '../../../src/sandbox/protocol/messages.js'
import type { SandboxBackend } from '../../../src/sandbox/backend.js'
import { runnerDirectory } from '../../../src/sandbox/runner-directory.js'
import { createSpec } from './create-spec.js'
import { temporaryFolder } from '../folders.js'

type Call = Extract<RunnerMessage, { type: 'suspended' }>['calls'][number]
type Outcome = Extract<HostMessage, { type: 'resume' }>['results'][number]['outcome']

interface Answered {
  readonly index: number
  readonly outcome: Outcome
}

/** Answers the calls of a step: all of them, or those that have a result by now. */
type Answer = (calls: readonly Call[]) => readonly Answered[]

const echo: Answer = (calls) =>
  calls.map(({ call, arguments: value }) => ({ index: call, outcome: { status: 'ok', value } }))

const limits = {
  cell_seconds: 2,
  calls_per_cell: 1_000,
  captured_characters: 20_000,
  frame_bytes: 1 << 24,
  argument_bytes: 1_000_000,
  memory_bytes: 1 << 30,
}

type Result = Exclude<RunnerMessage, { type: 'output' | 'interrupted' | 'ready' }>

/** The bytes from and to a runner. */
interface RunnerProcess {
  readonly received: AsyncIterable<Uint8Array>
  write(bytes: Uint8Array): void
  interrupt(): void
}

/** A runner for JavaScript as a process of this machine, and the host's side of its session. */
export class JavaScriptRunner {
  /** The answers of the runner to steps, in order. */
  readonly results: Result[] = []
  /** The steps that it got. */
  readonly steps: HostMessage[] = []
  readonly #frames: AsyncIterator<RunnerMessage>
  #step = 0
  #cell = 0

  readonly #process: RunnerProcess

  private constructor(process: RunnerProcess) {
    this.#process = process
    this.#frames = framesOf(process.received)
  }

  /** Starts the runner of containers. */
  static async start(
    tools: readonly string[] = ['get'],
    signature: Partial<ToolSignature> = { open: true },
  ): Promise<JavaScriptRunner> {
    return JavaScriptRunner.#open(startProcess(await temporaryFolder()), tools, signature)
  }

  /** Starts the runner of the embedded sandbox, in its jail. */
  static async startEmbedded(
    backend: SandboxBackend,
    signature: Partial<ToolSignature> = { open: true },
    language: string = javascript.name,
  ): Promise<JavaScriptRunner> {
    embedded += 1
    const spec = { ...createSpec(`embedded-${embedded}`), language }
    const connection = await backend.open(spec, new AbortController().signal)
    const runner = await JavaScriptRunner.#open(
      {
        received: connection.received,
        write: (bytes) => void connection.send(bytes),
        interrupt: () => void connection.interrupt(),
      },
      ['get'],
      signature,
    )
    onTestFinished(async () => backend.remove(spec))
    return runner
  }

  static async #open(
    process: RunnerProcess,
    tools: readonly string[],
    signature: Partial<ToolSignature>,
  ): Promise<JavaScriptRunner> {
    const runner = new JavaScriptRunner(process)
    runner.send({
      type: 'hello',
      protocol: 5,
      fence: [1, 0, 1],
      session: 'a-session',
      seed: 7,
      started_at: Date.UTC(2026, 0, 1),
      tools: tools.map((name) => ({ name, parameters: ['id'], required: [], documentation: '', ...signature })),
      limits,
    })
    expect(await runner.next()).toMatchObject({ type: 'ready', session: 'a-session', step: 0 })
    return runner
  }

  interrupt(): void {
    this.#process.interrupt()
  }

  send(message: HostMessage): void {
    if ('step' in message && message.type !== 'snapshot') this.steps.push(message)
    this.#process.write(Buffer.concat(encodeMessage(message)))
  }

  async next(): Promise<RunnerMessage> {
    const { value, done } = await this.#frames.next()
    if (done) throw new Error('the runner has ended')
    return value
  }

  /** The next result of a step. */
  async result(): Promise<Result> {
    for (;;) {
      const message = await this.next()
      if (message.type === 'output' || message.type === 'interrupted' || message.type === 'ready') continue
      this.results.push(message)
      return message
    }
  }

  /** Runs a cell to its end. The output is that of all of its steps. */
  async run(source: string, answer: Answer = echo): Promise<{ readonly output: string; readonly end: Result }> {
    this.startCell(source)
    let output = ''
    for (;;) {
      const result = await this.result()
      if ('output' in result) output += result.output
      if (result.type !== 'suspended') return { output, end: result }
      const waited = result.wake_in === null ? 1 : result.wake_in * 1_000
      this.resume(answer(result.calls), waited)
    }
  }

  startCell(source: string, isChecked = true): void {
    this.#cell += 1
    const cell = { cell: this.#cell, source, ...(isChecked && { checked: true as const }) }
    this.send({ type: 'cell', ...this.#nextStep(5), ...cell })
  }

  resume(answered: readonly Answered[], waited = 1, stop?: string): void {
    const results = answered.map(({ index, outcome }) => ({ call: index, outcome }))
    this.send({ type: 'resume', ...this.#nextStep(waited), results, ...defined({ stop }) })
  }

  #nextStep(waited: number) {
    this.#step += 1
    const step = this.#step
    return { step, fence: [1, step, 1] as const, digest: `digest ${step}`, now: step * 1_000, waited }
  }
}

let embedded = 0

/** Starts a process that ends with the test. */
function startProcess(folder: string): RunnerProcess {
  const [shell = '', ...before] = javascript.runner.interpreter
  const command = before
    .map((each) => each.replace('/usr/bin/node', process.execPath))
    // Node.js 20 does not know it.
    .filter((each) => !each.startsWith('--disable-warning'))
  const entry = join(runnerDirectory, javascript.name, javascript.runner.entry)
  const env = { PATH: process.env['PATH'], HOME: folder, ...javascript.runner.environment }
  const child = spawn(shell, [...command, entry], { cwd: folder, env, stdio: 'pipe', detached: true })
  onTestFinished(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // It has ended.
    }
  })
  return {
    received: child.stdout,
    write: (bytes) => void child.stdin.write(bytes),
    interrupt: () => void child.kill('SIGINT'),
  }
}

async function* framesOf(received: AsyncIterable<Uint8Array>): AsyncGenerator<RunnerMessage, void, undefined> {
  const decoder = new FrameDecoder(limits.frame_bytes)
  for await (const chunk of received) {
    for (const frame of decoder.push(chunk)) yield parseFrame(frame) as RunnerMessage
  }
}
