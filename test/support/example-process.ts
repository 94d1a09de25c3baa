import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { buildExample } from './build-example.js'
import { sharedServer } from './temporal/shared-server.js'

/** A compiled example, and the processes that a test starts with its files. */
export class ExampleProject {
  readonly #folder: string
  readonly #environment: NodeJS.ProcessEnv

  /** @param environment added to the address of the tests' server */
  static async build(name: string, environment: NodeJS.ProcessEnv = {}): Promise<ExampleProject> {
    return new ExampleProject(await buildExample(name), environment)
  }

  private constructor(folder: string, environment: NodeJS.ProcessEnv) {
    const { address, namespace } = sharedServer()
    this.#folder = folder
    this.#environment = { ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, ...environment }
  }

  /** Runs a file of `dist` until it ends, and returns its output. */
  async run(file: string, ...args: readonly string[]): Promise<string> {
    const options = { cwd: this.#folder, env: this.#environment }
    return (await promisify(execFile)(process.execPath, [join('dist', file), ...args], options)).stdout
  }

  /** Starts a file of `dist`, with a free port for a file that listens. The process ends with the test. */
  start(file: string, options: { readonly args?: readonly string[]; readonly env?: NodeJS.ProcessEnv } = {}) {
    const child = spawn(process.execPath, [join('dist', file), ...(options.args ?? [])], {
      cwd: this.#folder,
      env: { ...this.#environment, PORT: '0', ...options.env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }
}

/** The URL that a server prints when it listens. */
export async function urlOf({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('no output')
  const [line] = (await once(createInterface({ input: stdout }), 'line')) as [string]
  return line.slice(line.indexOf('http'))
}

/** The complete output of a process. */
export async function outputOf({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('no output')
  return text(stdout)
}

/** Sends SIGTERM to each process, and expects that it ends with exit code 0. */
export async function expectStops(...children: readonly ChildProcess[]): Promise<void> {
  for (const child of children) {
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    expect(await closed).toEqual([0, null])
  }
}
