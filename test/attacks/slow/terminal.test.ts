import { afterAll, beforeAll, expect, it } from 'vitest'
import { TestProject, type PtcProcess } from '../../support/cli/ptc.js'
import { PseudoTerminal } from '../../support/cli/terminal.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'

const configuration = `
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'
const echo = defineTool({
  name: 'echo', description: 'Gives back.', effect: 'read', input: z.object({ text: z.string() }), output: z.string(),
  run: async ({ text }) => text,
})
export default defineConfig({ tools: [echo], sandbox: { backend: 'wasm' }, taskQueue: '${uniqueName('hostile')}' })
`

/** Sets clipboard, title and colors, clears the screen, reverses text direction; also with C1 controls. */
const controlSequences =
  '\u001B]52;c;b3duZWQ=\u0007\u001B]0;owned\u0007\u001B[2J\u009B8m\u009D0;owned\u009C\u202Etxt.exe\rover\b'
/**
 * Characters that must not reach a terminal. A terminal adds carriage returns to line ends, and progress is redrawn
 * with `ESC [`.
 */
// oxlint-disable-next-line no-control-regex -- the pattern finds control characters
const unescapedControl = /\u001B\]|\u001B\[2J|[\u0007\b\u0080-\u009F\u202E]|\r(?![\n\r\u001B])/

let project: TestProject
let worker: PtcProcess

beforeAll(async () => {
  project = await TestProject.create({ 'ptc.config.ts': configuration }, { TEMPORAL_ADDRESS: sharedServer().address })
  const text = JSON.stringify(controlSequences)
  await project.write('printed.py', `print(${text})`)
  await project.write('raised.py', `print(await echo(text=${text}))\nraise ValueError(${text})`)
  await project.write('long.py', 'print("é" * 99_000, " " * 99_000, ".")')
  worker = project.start('worker')
  await worker.waitForOutput(/worker ready/)
})

afterAll(() => project[Symbol.asyncDispose]())

it('B19 output and errors of code send no control characters to a terminal; a pipe gets them unchanged', async () => {
  for (const [script, code] of [
    ['printed.py', 0],
    ['raised.py', 1],
  ] as const) {
    const id = uniqueName('driving')
    for (const command of [
      ['exec', script, '--id', id],
      ['watch', id],
      ['exec', script, '--session', id],
    ]) {
      const terminal = PseudoTerminal.start(project, ...command)
      expect(await terminal.exitCode).toBe(code)
      expect(terminal.output).toContain('␛]52;c;b3duZWQ=␇')
      expect(terminal.output).not.toMatch(unescapedControl)
    }
    const piped = await project.run('watch', id)
    expect(piped).toMatchObject({ code, stdout: `${controlSequences}\n` })
    await project.run('sessions', 'close', id)
  }
})

it('B20 `ptc show` and `ptc watch` print a line of 198,000 characters', async () => {
  const id = uniqueName('long')
  const printed = `${'é'.repeat(99_000)} ${' '.repeat(99_000)} .\n`
  expect(await project.run('exec', 'long.py', '--id', id)).toMatchObject({ code: 0, stdout: printed })
  for (const command of ['show', 'watch']) {
    const terminal = PseudoTerminal.start(project, command, id)
    expect(await terminal.exitCode).toBe(0)
    expect(terminal.output).toContain('éééé')
  }
})
