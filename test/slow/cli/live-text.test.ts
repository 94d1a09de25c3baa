import { expect, it, onTestFinished } from 'vitest'
import { type Script, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { type EnvironmentVariables, TestProject } from '../../support/cli/ptc.js'
import { PseudoTerminal } from '../../support/cli/terminal.js'
import { faulty, text, turn } from '../../support/script.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'

const answer = 'The travel budget was exceeded by Ada, Lin and Grace in the third quarter.'

function configuration(stream: string): string {
  return `
import { defineConfig, fileStream } from 'durable-ptc'

export default defineConfig({
  tools: [],
  model: { name: 'scripted', idleTimeout: '5s' },
  sandbox: { backend: 'wasm', warm: 0 },
  ${stream}
  taskQueue: '${uniqueName('live-text')}',
})
`
}

async function createProject(script: Script, stream: string, env: EnvironmentVariables): Promise<TestProject> {
  const api = await startScriptedMessagesApi({ script })
  onTestFinished(() => api.close())
  const project = await TestProject.create(
    { 'ptc.config.ts': configuration(stream) },
    { ...env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'test-key' },
  )
  onTestFinished(() => project[Symbol.asyncDispose]())
  return project
}

async function startProject(script: Script): Promise<TestProject> {
  const stream = `stream: fileStream({ folder: '.ptc/stream' }),`
  const project = await createProject(script, stream, { TEMPORAL_ADDRESS: sharedServer().address })
  await project.start('worker').waitForOutput(/worker ready/)
  return project
}

/** The model sends half of its reply, and hangs; then it sends all of it. */
const stalling = faulty([{ type: 'stall', at: { insideBlock: 0 }, attempt: 1 }], turn(text(answer)))

it('ptc run at a terminal shows text while the model writes it', async () => {
  const project = await startProject([stalling])
  const terminal = PseudoTerminal.start(project, 'run', 'Who exceeded the travel budget?')
  await terminal.waitForScreen(/▸ waiting for the model \(turn 1\).*\r\n│ The travel/)
  await terminal.waitForScreen(new RegExp(answer))
  expect(await terminal.exitCode).toBe(0)
})

it('ptc chat shows the text for the current message while the model writes it, and then the answer', async () => {
  const project = await startProject([turn(text('Hello.')), stalling])
  const terminal = PseudoTerminal.start(project, 'chat', uniqueName('live').slice(0, 20))
  await terminal.waitForScreen(/> /)
  terminal.type('hello\r')
  // Not the live text.
  await terminal.waitForScreen(/(?<!│ )Hello\.\r\n> /)
  terminal.type('Who exceeded the travel budget?\r')
  await terminal.waitForScreen(/│ The travel.*\r\n> /)
  // The live text is gone, and the line that is being typed is below the answer.
  await terminal.waitForScreen(new RegExp(`${answer}\\r\\n> $`))
  terminal.type('exit\r')
  expect(await terminal.exitCode).toBe(0)
})

it('live text with the server of ptc dev needs no `stream` in the configuration', async () => {
  const project = await createProject([stalling], '', {})
  await project.start('dev').waitForOutput(/Ready\./, 'stdout')
  const terminal = PseudoTerminal.start(project, 'run', 'Who exceeded the travel budget?')
  await terminal.waitForScreen(/▸ waiting for the model \(turn 1\).*\r\n│ The travel/)
  await terminal.waitForScreen(new RegExp(answer))
  expect(await terminal.exitCode).toBe(0)
})
