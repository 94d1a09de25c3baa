import { defined } from '../../../src/common/defined.js'
import { deferred } from '../../../src/common/async/deferred.js'
import type { JsonObject } from '../../../src/common/json/json.js'
import type { Language } from '../../../src/languages/index.js'
import type { SandboxBackend, SandboxConnection, SandboxEnd, SandboxId } from '../../../src/sandbox/backend.js'
import { encodeFrame, FrameDecoder, parseFrame } from '../../../src/sandbox/protocol/frames.js'
import { type HostMessage, protocolVersion, type StepMessage } from '../../../src/sandbox/protocol/messages.js'

/**
 * A second language: a program has one statement in each line. `set NAME TEXT` sets a variable, `print NAME` prints one,
 * and `NAME = TOOL {"argument": 1}` calls a tool. Variable `language` has the language that the cell names.
 */
export const lineLanguage: Language = {
  name: 'lines',
  title: 'Lines',
  extension: '.lines',
  program: { title: 'Lines', version: ['/usr/bin/python3', '--version'] },
  runner: { interpreter: ['/usr/bin/lines', '--strict'], entry: 'runner.lines', environment: { LINES_SEED: '0' } },
  repl: {
    prompts: { first: 'lines> ', next: '' },
    indentation: '',
    names: ['set', 'print'],
    isCompleteBlock: () => true,
    continuesBlock: () => false,
    displayValueOf: (block) => (/^\w+$/.test(block) ? `print ${block}` : block),
  },
  isReservedName: (name) => name === 'set' || name === 'print',
  documentTools: () => (tool, codeName) => ({
    stub: `${codeName} JSON -- ${tool.description}`,
    signature: `${codeName}`,
  }),
  splitStub: (stub) => ({ types: [], body: stub }),
  describeEnvironment: ({ cellSeconds }, { inputDescription = 'no input' }) =>
    `Runs lines, for ${cellSeconds} seconds, with ${inputDescription}.`,
  describeTools: (stubs) => `A failed call ends the program.\n\`\`\`lines\n${stubs.join('\n')}\n\`\`\``,
  describeAsFurther: () => 'Lines.',
  summarizeTool: (codeName, parameters, summary) => `${codeName} ${parameters.join(' ')} -- ${summary}`,
  describeValue: (value) => `a ${typeof value} of lines`,
  callsIn: (text) => [...text.matchAll(/^\w+ = (\w+) \{/gm)].map(([, name = '']) => name),
}

/** Sandboxes in this process. They are lost on request. */
export class LineBackend implements SandboxBackend {
  readonly name = 'lines-in-process'
  readonly #runners = new Map<string, LineRunner>()
  /** The languages of the sandboxes, in the order in which they were opened. */
  readonly opened: string[] = []

  async open(spec: SandboxId & { readonly language: string }): Promise<SandboxConnection> {
    this.opened.push(spec.language)
    const runner = new LineRunner()
    this.#runners.set(keyOf(spec), runner)
    return runner
  }

  async attach(id: SandboxId): Promise<SandboxConnection | undefined> {
    return this.#runners.get(keyOf(id))
  }

  async remove(id: SandboxId): Promise<void> {
    await this.#runners.get(keyOf(id))?.kill()
    this.#runners.delete(keyOf(id))
  }

  /** Ends every sandbox, as a host that dies. */
  async loseAll(): Promise<void> {
    const runners = [...this.#runners.values()]
    this.#runners.clear()
    await Promise.all(runners.map((runner) => runner.kill()))
  }

  check = async () => ({ usable: true, summary: 'lines', problems: [] })
  close = (): Promise<void> => this.loseAll()
}

function keyOf({ session, epoch }: SandboxId): string {
  return `${session}/${epoch}`
}

type CellMessage = Extract<HostMessage, { type: 'cell' }>

/** The runner: speaks the step protocol, as a process in a container does. */
class LineRunner implements SandboxConnection {
  readonly description = 'lines in this process'
  readonly #end = deferred<SandboxEnd>()
  readonly ended = this.#end.promise
  readonly #decoder = new FrameDecoder(2 ** 24 - 1)
  readonly #stream = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 1_000_000 })
  readonly #writer = this.#stream.writable.getWriter()
  readonly received = this.#stream.readable
  readonly #variables = new Map<string, string>()
  #lines: string[] = []
  /** The variable that gets the result of the call in progress. */
  #target = ''
  #call = 0
  #step = 0

  async send(bytes: Uint8Array): Promise<void> {
    for (const message of this.#decoder.push(bytes).map((body) => parseFrame(body) as HostMessage)) {
      if (message.type === 'hello') {
        const { session } = message
        this.#emit({ type: 'ready', protocol: protocolVersion, session, step: this.#step, language: 'Lines 1' })
      } else if (message.type === 'cell') this.#startCell(message)
      else if (message.type === 'resume') {
        const [result] = message.results
        this.#variables.set(this.#target, JSON.stringify(result?.outcome.value ?? result?.outcome.message))
        this.#continue(message)
      } else throw new Error(`the runner of lines gets no ${message.type}`)
    }
  }

  #startCell(message: CellMessage): void {
    this.#variables.set('language', message.language ?? 'the first')
    this.#lines = 'source' in message ? message.source.split('\n') : []
    this.#continue(message)
  }

  /** Runs lines up to the next call. */
  #continue({ step, digest }: StepMessage): void {
    this.#step = step
    let output = ''
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      const [, name = '', value = ''] = /^set (\w+) (.*)$/.exec(line) ?? []
      const [, target = '', tool = '', json = ''] = /^(\w+) = (\w+) (\{.*\})$/.exec(line) ?? []
      const [, printed] = /^print (\w+)$/.exec(line) ?? []
      if (name !== '') this.#variables.set(name, value)
      else if (printed !== undefined) output += `${this.#variables.get(printed) ?? 'nothing'}\n`
      else if (tool !== '') {
        this.#target = target
        this.#call += 1
        const calls = [{ call: this.#call, tool, arguments: JSON.parse(json) as JsonObject }]
        return this.#emit({ type: 'suspended', step, digest, calls, wake_in: null, output })
      } else {
        this.#lines = []
        return this.#emit({ type: 'failed', step, digest, kind: 'code_error', error: `no statement: ${line}`, output })
      }
    }
    this.#emit({ type: 'completed', step, digest, output })
  }

  #emit(message: object): void {
    this.#writer.write(encodeFrame(defined(message), 2 ** 24 - 1)).catch(() => undefined)
  }

  async kill(): Promise<void> {
    this.#end.resolve({ reason: 'disconnected', exitCode: null, diagnostics: '' })
  }

  interrupt = async (): Promise<boolean> => false
  detach = async (): Promise<void> => undefined
}
