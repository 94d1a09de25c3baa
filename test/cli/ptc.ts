import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The built command, as npm installs it. */
export const ptcScript = join(root, 'dist/client/cli/main.js')

export interface Ended {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

export type Environment = Readonly<Record<string, string>>

/** A running `ptc`. */
export class Ptc {
  readonly ended: Promise<Ended>
  readonly #child: ChildProcess
  readonly #output = { stdout: '', stderr: '' }

  constructor(ptcArguments: readonly string[], cwd: string, environment: Environment) {
    this.#child = spawn(process.execPath, [ptcScript, ...ptcArguments], { cwd, env: environment })
    for (const name of ['stdout', 'stderr'] as const) {
      this.#child[name]?.setEncoding('utf8').on('data', (said: string) => (this.#output[name] += said))
    }
    this.ended = new Promise((settle, reject) => {
      this.#child.once('error', reject)
      this.#child.once('close', (code) => settle({ code: code ?? undefined, ...this.#output }))
    })
  }

  /** What it has said so far. */
  get stderr(): string {
    return this.#output.stderr
  }

  /** Gives standard input, and closes it. */
  input(given: string): this {
    this.#child.stdin?.end(given)
    return this
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Has it begun to take signals itself? Linux tells; bit 0 is SIGHUP, which Node leaves alone (SIGINT it does not). */
  async catchesSignals(): Promise<boolean> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'utf8')
    const caught = BigInt(`0x${/SigCgt:\s*([0-9a-f]+)/.exec(status)?.[1] ?? '0'}`)
    return (caught & 1n) !== 0n
  }

  /** Nobody reads what it prints any more. */
  closeStdout(): void {
    this.#child.stdout?.destroy()
  }

  /** Resolves with the match when it has been said; rejects with all that was said when the process ends without. */
  async said(pattern: RegExp, where: 'stdout' | 'stderr' = 'stderr'): Promise<RegExpExecArray> {
    const found = (): RegExpExecArray | null => pattern.exec(this.#output[where])
    return new Promise((settle, reject) => {
      const look = (): void => {
        const match = found()
        if (match) settle(match)
      }
      this.#child[where]?.on('data', look)
      look()
      void this.ended.then(({ code, stdout, stderr }) =>
        reject(new Error(`ptc ended with ${code} and never said ${pattern}:\n${stdout}\n${stderr}`)),
      )
    })
  }
}

/** A folder of a user's, with a configuration in it. */
export class Project implements AsyncDisposable {
  readonly folder: string
  readonly environment: Environment
  readonly #started: Ptc[] = []

  private constructor(folder: string, environment: Environment) {
    this.folder = folder
    this.environment = environment
  }

  /** @param environment what is set beside the usual; nothing of Temporal's or a model's is inherited */
  static async create(files: Readonly<Record<string, string>>, environment: Environment = {}): Promise<Project> {
    const folder = await mkdtemp(join(tmpdir(), 'ptc-cli-'))
    const project = new Project(folder, { ...inherited(), ...environment })
    // As if the package's dependencies were installed there.
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir')
    for (const [name, content] of Object.entries(files)) await project.write(name, content)
    return project
  }

  write(name: string, content: string): Promise<void> {
    return writeFile(join(this.folder, name), content)
  }

  start(...ptcArguments: readonly string[]): Ptc {
    const ptc = new Ptc(ptcArguments, this.folder, this.environment)
    this.#started.push(ptc)
    return ptc
  }

  run(...ptcArguments: readonly string[]): Promise<Ended> {
    return this.start(...ptcArguments).input('').ended
  }

  /** @param script a shell's, with `"$@"` for the command: `"$@" >/dev/full` */
  async runInShell(script: string, ptcArguments: readonly string[], input = ''): Promise<Omit<Ended, 'stdout'>> {
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
    await Promise.all(this.#started.map(({ ended }) => ended))
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
}

function inherited(): Environment {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(TEMPORAL|ANTHROPIC|PTC|NODE_OPTIONS|VITEST|FORCE_COLOR)/.test(name)
        ? []
        : [[name, value]],
    ),
  )
}
