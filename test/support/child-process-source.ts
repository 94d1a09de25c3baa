import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { defineTool, type ToolSource } from '../../src/index.js'

/**
 * A tool server, in a process of its own. It answers each line: a call of one of its tools by the arguments in upper
 * case; `list` by the names of its tools.
 */
const program = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { method, text } = JSON.parse(line)
    const answers = { list: () => ['shout', 'double'], shout: () => text.toUpperCase(), double: () => text + text }
    console.log(JSON.stringify(answers[method]()))
  })`

/** A source whose tools are those of a child process. */
export class ChildProcessSource implements ToolSource {
  readonly name = 'child process'
  /** All processes that it has started. */
  readonly started: ChildProcess[] = []
  #answers: AsyncIterator<string> | undefined

  async list({ signal }: { readonly signal: AbortSignal }) {
    const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'], signal })
    this.started.push(child)
    // An aborted list fails by its request.
    child.on('error', () => undefined)
    this.#answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const names = z.array(z.string()).parse(await this.#request({ method: 'list' }))
    return names.map((name) =>
      defineTool({
        name,
        description: `Tool ${name} of a child process.`,
        input: z.object({ text: z.string() }),
        output: z.string(),
        effect: 'read',
        run: async ({ text }) => z.string().parse(await this.#request({ method: name, text })),
      }),
    )
  }

  async close(): Promise<void> {
    const child = this.started.at(-1)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  async #request(request: object): Promise<unknown> {
    this.started.at(-1)?.stdin?.write(`${JSON.stringify(request)}\n`)
    const answer = await this.#answers?.next()
    if (answer?.value === undefined) throw new Error('the child process has ended')
    return JSON.parse(answer.value)
  }
}

/** Whether a process lives. */
export function isAlive({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}
