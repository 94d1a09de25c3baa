import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
import { type Project, ptcScript } from './ptc.js'

/** A `ptc` at a terminal of its own, which `script` of util-linux makes. It ends with the test. */
export class Terminal {
  /** Its exit code. */
  readonly ended: Promise<number | null>
  readonly #child: ChildProcessWithoutNullStreams
  #shown = ''
  /** Where what has been waited for ends. */
  #seen = 0

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.#shown += text))
    this.ended = new Promise((settle, reject) => {
      child.once('error', reject)
      child.once('close', settle)
    })
  }

  static start(project: Project, ...ptcArguments: readonly string[]): Terminal {
    return Terminal.ofWidth(120, project, ...ptcArguments)
  }

  static ofWidth(columns: number, { folder, environment }: Project, ...ptcArguments: readonly string[]): Terminal {
    const command = [process.execPath, ptcScript, ...ptcArguments].map((part) => `'${part}'`).join(' ')
    const inTerminal = ['-qefc', `stty cols ${columns} rows 40 && exec ${command}`, '/dev/null']
    const child = spawn('script', inTerminal, { cwd: folder, env: { ...environment, TERM: 'xterm' } })
    onTestFinished(() => void child.kill('SIGKILL'))
    return new Terminal(child)
  }

  /** All that the terminal was sent, with its escape sequences. */
  get sent(): string {
    return this.#shown
  }

  type(keys: string): void {
    this.#child.stdin.write(keys)
  }

  /** Resolves when this is on the screen, after all that was waited for before. */
  shows(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((settle, reject) => {
      const look = (): void => {
        const shown = stripVTControlCharacters(this.#shown)
        const match = pattern.exec(shown.slice(this.#seen))
        if (match === null) return
        this.#seen = shown.length
        this.#child.stdout.off('data', look)
        settle(match)
      }
      this.#child.stdout.on('data', look)
      look()
      void this.ended.then((code) =>
        reject(new Error(`ptc ended with ${code} and never showed ${pattern}:\n${this.#shown}`)),
      )
    })
  }
}
