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

it('a function with empty lines that is piped is one block', async () => {
  const { stdout } = await project.start('exec', '-i').input(code).result
  expect(stdout).toBe('42\ncaught\nend\n')
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
