import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The built command, in the form in which npm installs it. */
export const ptcScript = join(root, 'dist/cli/main.js')

export interface ProcessResult {
  /** Undefined when a signal ended the command. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

export type EnvironmentVariables = Readonly<Record<string, string>>

/** A running `ptc`. */
export class PtcProcess {
  readonly result: Promise<ProcessResult>
  readonly #child: ChildProcess
  readonly #output = { stdout: '', stderr: '' }

  constructor(ptcArguments: readonly string[], cwd: string, environment: EnvironmentVariables) {
    this.#child = spawn(process.execPath, [ptcScript, ...ptcArguments], { cwd, env: environment })
    for (const name of ['stdout', 'stderr'] as const) {
      this.#child[name]?.setEncoding('utf8').on('data', (chunk: string) => (this.#output[name] += chunk))
    }
    this.result = new Promise((settle, reject) => {
      this.#child.once('error', reject)
      this.#child.once('close', (code) => settle({ code: code ?? undefined, ...this.#output }))
    })
  }

  /** Output on stderr so far. */
  get stderr(): string {
    return this.#output.stderr
  }

  /** Writes standard input, and closes it. */
  input(content: string): this {
    this.#child.stdin?.end(content)
    return this
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Whether the command already handles signals, from /proc. Bit 0 is SIGHUP, which Node itself does not handle. */
  async handlesSignals(): Promise<boolean> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'utf8')
    const caught = BigInt(`0x${/SigCgt:\s*([0-9a-f]+)/.exec(status)?.[1] ?? '0'}`)
    return (caught & 1n) !== 0n
  }

  /** Closes the reading end of its stdout. */
  destroyStdout(): void {
    this.#child.stdout?.destroy()
  }

  /** Resolves with the first match in the output; rejects with all output when the process ends without one. */
  async waitForOutput(pattern: RegExp, where: 'stdout' | 'stderr' = 'stderr'): Promise<RegExpExecArray> {
    const found = (): RegExpExecArray | null => pattern.exec(this.#output[where])
    return new Promise((settle, reject) => {
      const check = (): void => {
        const match = found()
        if (match) settle(match)
      }
      this.#child[where]?.on('data', check)
      check()
      void this.result.then(({ code, stdout, stderr }) =>
        reject(new Error(`ptc ended with ${code} and never printed ${pattern}:\n${stdout}\n${stderr}`)),
      )
    })
  }
}

/** A project folder of a user. */
export class TestProject implements AsyncDisposable {
  readonly folder: string
  readonly environment: EnvironmentVariables
  readonly #started: PtcProcess[] = []

  private constructor(folder: string, environment: EnvironmentVariables) {
    this.folder = folder
    this.environment = environment
  }

  /** @param environment additional variables; variables of Temporal and the model are not inherited */
  static async create(
    files: Readonly<Record<string, string>>,
    environment: EnvironmentVariables = {},
  ): Promise<TestProject> {
    const folder = await mkdtemp(join(tmpdir(), 'ptc-cli-'))
    const project = new TestProject(folder, { ...inheritedVariables(), ...environment })
    // Makes the folder look as if the package's dependencies were installed in it.
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir')
    for (const [name, content] of Object.entries(files)) await project.write(name, content)
    return project
  }

  write(name: string, content: string): Promise<void> {
    return writeFile(join(this.folder, name), content)
  }

  start(...ptcArguments: readonly string[]): PtcProcess {
    return this.startWith({}, ...ptcArguments)
  }

  /** @param environment replaces variables of this process */
  startWith(environment: EnvironmentVariables, ...ptcArguments: readonly string[]): PtcProcess {
    const ptc = new PtcProcess(ptcArguments, this.folder, { ...this.environment, ...environment })
    this.#started.push(ptc)
    return ptc
  }

  run(...ptcArguments: readonly string[]): Promise<ProcessResult> {
    return this.start(...ptcArguments).input('').result
  }

  /** @param script of a shell, with `"$@"` for the command: `"$@" >/dev/full` */
  async runInShell(
    script: string,
    ptcArguments: readonly string[],
    input = '',
  ): Promise<Omit<ProcessResult, 'stdout'>> {
    const shell = spawn('sh', ['-c', script, 'sh', process.execPath, ptcScript, ...ptcArguments], {
      cwd: this.folder,
      env: this.environment,
    })
    shell.stdin.end(input)
    const [stderr, [code]] = await Promise.all([text(shell.stderr), once(shell, 'close')])
    return { code: typeof code === 'number' ? code : undefined, stderr }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const ptc of this.#started) ptc.signal('SIGKILL')
    await Promise.all(this.#started.map(({ result }) => result))
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

function inheritedVariables(): EnvironmentVariables {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(TEMPORAL|ANTHROPIC|PTC|NODE_OPTIONS|VITEST|FORCE_COLOR)/.test(name)
        ? []
        : [[name, value]],
    ),
  )
}
