import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { onTestFailed, onTestFinished } from 'vitest'
import { type TestProject, ptcScript } from './ptc.js'

/** A `ptc` at its own terminal, created by `script` of util-linux. It ends with the test. */
export class PseudoTerminal {
  /** The exit code of `ptc`. */
  readonly exitCode: Promise<number | null>
  readonly #child: ChildProcessWithoutNullStreams
  #output = ''
  /** Offset after the last match. */
  #searchedUntil = 0

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    this.exitCode = new Promise((settle, reject) => {
      child.once('error', reject)
      child.once('close', settle)
    })
  }

  static start(project: TestProject, ...ptcArguments: readonly string[]): PseudoTerminal {
    return PseudoTerminal.startWithWidth(120, project, ...ptcArguments)
  }

  static startWithWidth(
    columns: number,
    { folder, environment }: TestProject,
    ...ptcArguments: readonly string[]
  ): PseudoTerminal {
    const command = [process.execPath, ptcScript, ...ptcArguments].map((part) => `'${part}'`).join(' ')
    const inTerminal = ['-qefc', `stty cols ${columns} rows 40 && exec ${command}`, '/dev/null']
    const child = spawn('script', inTerminal, { cwd: folder, env: { ...environment, TERM: 'xterm' } })
    onTestFinished(() => void child.kill('SIGKILL'))
    const terminal = new PseudoTerminal(child)
    onTestFailed(() => console.error(`the terminal:\n${terminal.output}`))
    return terminal
  }

  /** All output to the terminal, with escape sequences. */
  get output(): string {
    return this.#output
  }

  type(keys: string): void {
    this.#child.stdin.write(keys)
  }

  /** Resolves when the text is printed, after the previous match. */
  waitForScreen(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((settle, reject) => {
      const look = (): void => {
        const shown = stripVTControlCharacters(this.#output)
        const match = pattern.exec(shown.slice(this.#searchedUntil))
        if (match === null) return
        this.#searchedUntil = shown.length
        this.#child.stdout.off('data', look)
        settle(match)
      }
      this.#child.stdout.on('data', look)
      look()
      void this.exitCode.then((code) =>
        reject(new Error(`ptc ended with ${code} and never showed ${pattern}:\n${this.#output}`)),
      )
    })
  }
}
