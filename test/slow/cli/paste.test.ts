import { afterAll, beforeAll, expect, it } from 'vitest'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'
import { TestProject } from '../../support/cli/ptc.js'
import { PseudoTerminal } from '../../support/cli/terminal.js'

let project: TestProject

const configuration = `
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'
const noop = defineTool({
  name: 'noop', description: 'Does nothing.', effect: 'read', input: z.object({}), output: z.null(), run: async () => null,
})
export default defineConfig({ tools: [noop], sandbox: { backend: 'wasm' }, taskQueue: '${uniqueName('paste')}' })
`

beforeAll(async () => {
  project = await TestProject.create({ 'ptc.config.ts': configuration }, { TEMPORAL_ADDRESS: sharedServer().address })
  await project.start('worker').waitForOutput(/worker ready/)
})

afterAll(() => project[Symbol.asyncDispose]())

const code = `def g(a):
  b = a


  return b * 2

print(g(21))
try:
  nothing

except NameError:
  print("caught")

print("end")
`

it('a piped function with empty lines is one block', async () => {
  const { stdout } = await project.start('exec', '-i').input(code).result
  expect(stdout).toBe('42\ncaught\nend\n')
})

it('a terminal shows values, completes names, and keeps the lines for the next start', async () => {
  const first = PseudoTerminal.start(project, 'exec', '-i')
  await first.waitForScreen(/>>> $/)
  first.type('x = 40\r')
  await first.waitForScreen(/new session[^]*>>> $/)
  first.type('x + 2\r')
  await first.waitForScreen(/[\n\r]42\r?\n[^]*>>> $/)
  first.type('await noo\t')
  await first.waitForScreen(/await noop$/)
  first.type('()\r')
  await first.waitForScreen(/>>> $/)
  first.type('1 / 0\r')
  await first.waitForScreen(/1 \/ 0\r?\n[^]*ZeroDivisionError[^]*>>> $/)
  first.type('\u0004')
  expect(await first.exitCode).toBe(0)
  expect(first.output).not.toContain('None')
  const second = PseudoTerminal.start(project, 'exec', '-i')
  await second.waitForScreen(/>>> $/)
  second.type('\u001b[A\u001b[A')
  await second.waitForScreen(/await noop\(\)$/)
  second.type('\u0003\u0004')
  expect(await second.exitCode).toBe(0)
})

it('a function with empty lines that is pasted at a terminal is one block', async () => {
  const terminal = PseudoTerminal.start(project, 'exec', '-i')
  await terminal.waitForScreen(/>>> $/)
  terminal.type(code.replaceAll('\n', '\r'))
  await terminal.waitForScreen(/42\r?\n[^]*caught\r?\n[^]*end\r?\n[^]*>>> $/)
  expect(terminal.output).not.toMatch(/IndentationError|SyntaxError/)
  terminal.type('\u0004')
  expect(await terminal.exitCode).toBe(0)
})
