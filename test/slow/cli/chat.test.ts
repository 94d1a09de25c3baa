import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { TestProject } from '../../support/cli/ptc.js'
import { PseudoTerminal } from '../../support/cli/terminal.js'
import { requestMessages } from '../../support/environment/test-environment.js'
import { faulty, text, turn } from '../../support/script.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'

const configuration = `
import { setTimeout as delay } from 'node:timers/promises'
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'
const wait = defineTool({
  name: 'wait', description: 'Waits until it is cancelled.', effect: 'idempotent', timeout: '5m',
  input: z.object({}), output: z.null(), run: async (_, { signal }) => { await delay(240_000, undefined, { signal }); return null },
})
export default defineConfig({ tools: [wait], sandbox: { backend: 'wasm' }, taskQueue: '${uniqueName('chat')}' })
`

/** Repeats the user's message, unless it is one of the other texts. */
const script = [
  {
    ...turn({ type: 'tool_use', name: 'execute_code', input: { code: 'x = 42\nprint(x)' } }),
    match: { lastUserText: 'set x' },
  },
  { ...turn(text('x is {{last_tool_result}}')), match: { lastToolResult: '42' } },
  { ...turn({ type: 'tool_use', name: 'wait', input: {} }), match: { lastUserText: 'wait' } },
  {
    ...faulty([{ type: 'status', status: 401, attempt: 'every' }], turn(text('never'))),
    match: { lastUserText: { equals: 'break' } },
  },
  ...Array.from({ length: 10 }, () => turn(text('You said: {{last_user_text}}'))),
]

let api: ScriptedMessagesApi
let project: TestProject

beforeAll(async () => {
  api = await startScriptedMessagesApi({ script })
  project = await TestProject.create(
    { 'ptc.config.ts': configuration },
    { TEMPORAL_ADDRESS: sharedServer().address, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'test' },
  )
  await project.start('worker').waitForOutput(/worker ready/)
})

afterAll(async () => {
  await project[Symbol.asyncDispose]()
  await api.close()
})

describe('ptc chat', () => {
  it('ptc chat answers each line of a pipe, and a later command joins the conversation by its name', async () => {
    const name = uniqueName('books').slice(0, 20)
    const first = await project.start('chat', name).input('hello\n\nset x\n').result
    expect(first).toMatchObject({ code: 0, stdout: 'You said: hello\nx is 42\n' })
    const second = await project.run('chat', name, '--resume', '--json', '--message', 'again')
    expect(second.code).toBe(0)
    expect(JSON.parse(second.stdout)).toMatchObject({ answer: 'You said: again', message: 3, isNew: false })
    const history = await project.start('chat', name).input('/history\n//not a command\n/close\n').result
    expect(history.stdout).toMatch(/"text": "hello"[^]*You said: \/not a command\n$/)
    expect(history.stderr).toMatch(new RegExp(`conversation ${name} is closed`))
    const closed = await project.run('chat', name, '--resume', '--message', 'again')
    expect(closed).toMatchObject({ code: 1, stderr: expect.stringMatching(/no open conversation/) })
  })

  it('ptc chat shares the variables of a named session with ptc exec', async () => {
    const [name, session] = [uniqueName('books').slice(0, 20), uniqueName('q3').slice(0, 20)]
    const first = await project.run('chat', name, '--session', session, '--message', 'set x')
    expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^x is 42/) })
    const executed = await project.start('exec', '--session', session, '--resume', '-').input('print(x)').result
    expect(executed).toMatchObject({ code: 0, stdout: '42\n' })
    const shown = await project.run('show', (await project.run('list')).stdout.match(/conversation:\S+/)?.[0] ?? '')
    expect(shown.stdout).toContain(`in session ${session}`)
    const invalid = await project.run('chat', name, '--session', 'a:b', '--message', 'set x')
    expect(invalid).toMatchObject({ code: 2, stderr: expect.stringContaining("can't be the name of a session") })
    await project.start('chat', name).input('/close\n').result
    expect(await project.run('sessions', 'close', session)).toMatchObject({ code: 0 })
  })

  it('ptc chat reports why a message failed, exits with 1, and the conversation continues', async () => {
    const name = uniqueName('broken').slice(0, 20)
    const failed = await project.run('chat', name, '--message', 'break')
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toMatch(/MODEL_AUTH: .*; the message was taken back, and can be sent again/)
    const next = await project.start('chat', name).input('mend\n/close\n').result
    expect(next).toMatchObject({ code: 0, stdout: 'You said: mend\n' })
  })

  it('ptc chat sends attached files with the next message, and reports an invalid one', async () => {
    const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
    await writeFile(join(project.folder, 'pixel.png'), png)
    const lines = ['one', '/attach missing.png', '/attach pixel.png', 'two', 'three', '/close', '']
    const chat = await project.start('chat', '--attach', 'pixel.png').input(lines.join('\n')).result
    expect(chat).toMatchObject({ code: 0, stdout: 'You said: one\nYou said: two\nYou said: three\n' })
    expect(chat.stderr).toMatch(/there is no file missing\.png[^]*pixel\.png goes with the next message/)
    const types = requestMessages(api.requests.at(-1)?.body)
      .filter(({ role }) => role === 'user')
      .map(({ content }) => (content as readonly { readonly type: string }[]).map(({ type }) => type))
    expect(types).toEqual([['image', 'text'], ['image', 'text'], ['text']])
    const asked = await project.run('run', '--attach', 'pixel.png', '--effort', 'low', 'what is it?')
    expect(asked).toMatchObject({ code: 0, stdout: 'You said: what is it?\n' })
    expect(api.requests.at(-1)?.body).toMatchObject({
      output_config: { effort: 'low' },
      messages: [{ content: [{ source: { media_type: 'image/png', data: png.toString('base64') } }, {}] }],
    })
  })

  it('ptc chat refuses invalid input before it connects', async () => {
    expect(await project.run('chat', 'a b', '--message', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/can't be the name of a conversation/),
    })
    expect(await project.run('chat', '--messages', '[{"role":"user","content":"x"}]', '--message', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/not of the assistant/),
    })
  })

  it('ptc chat at a terminal interrupts the work with Ctrl-C, and continues', async () => {
    const terminal = PseudoTerminal.start(project, 'run', '-i', 'wait')
    const [, name] = await terminal.waitForScreen(/conversation (chat-\S+): \/help/)
    await terminal.waitForScreen(/1 call/)
    terminal.type('\u0003')
    await terminal.waitForScreen(/interrupting[^]*was interrupted[^]*> /)
    terminal.type('hello\r')
    await terminal.waitForScreen(/You said: [^]*hello[^]*> /)
    terminal.type('/nonsense\r')
    await terminal.waitForScreen(/there is no command \/nonsense/)
    terminal.type('exit\r')
    await terminal.waitForScreen(new RegExp(`ptc chat ${name}. continues`))
    expect(await terminal.exitCode).toBe(0)
    expect((await project.start('chat', `${name}`).input('/close\n').result).code).toBe(0)
  })
})
