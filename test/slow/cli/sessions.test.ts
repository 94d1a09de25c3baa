import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionWorkflowId } from '../../../src/client/sessions/session-name.js'
import { connectClient, sharedServer, uniqueName } from '../../support/temporal/shared-server.js'
import { type ProcessResult, TestProject, type PtcProcess } from '../../support/cli/ptc.js'
import { PseudoTerminal } from '../../support/cli/terminal.js'

const taskQueue = uniqueName('cli-sessions')

const configuration = `
import { setTimeout as delay } from 'node:timers/promises'
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

const add = defineTool({
  name: 'add', description: 'Adds two numbers.', effect: 'read',
  input: z.object({ a: z.number(), b: z.number() }), output: z.number(),
  run: async ({ a, b }) => a + b,
})
const wait = defineTool({
  name: 'wait', description: 'Waits until it is cancelled.', effect: 'idempotent', timeout: '5m',
  input: z.object({}), output: z.string(),
  run: async (_, { signal }) => { await delay(240_000, undefined, { signal }); return 'done' },
})
export default defineConfig({ tools: [add, wait], sandbox: { backend: 'wasm' }, taskQueue: '${taskQueue}' })
`

let project: TestProject
let worker: PtcProcess

beforeAll(async () => {
  project = await TestProject.create({ 'ptc.config.ts': configuration }, { TEMPORAL_ADDRESS: sharedServer().address })
  await project.write('a.py', 'x = await add(a=40, b=1)\nprint("a")')
  await project.write('b.py', 'x += 1\nprint(x)')
  await project.write('bad.py', 'print("before")\n1 / 0')
  worker = project.start('worker')
  await worker.waitForOutput(/worker ready/)
})

afterAll(async () => {
  await project.run('sessions', 'close-all')
  await project[Symbol.asyncDispose]()
})

const uniqueSessionName = (): string => uniqueName('cli').slice(0, 16)

function exec(name: string, ...more: readonly string[]): Promise<ProcessResult> {
  return project.run('exec', '--session', name, ...more)
}

describe('ptc exec --session', () => {
  it('ptc exec --session executes a program with the variables of the previous one', async () => {
    const name = uniqueSessionName()
    const first = await exec(name, 'a.py')
    expect(first).toMatchObject({ code: 0, stdout: 'a\n' })
    expect(first.stderr).toMatch(new RegExp(`^sandbox: .*\ncell 1\n✓ cell 1 {2}\\S+ · 1 call\nnew session ${name}\n$`))
    const second = await exec(name, 'b.py')
    expect(second).toMatchObject({ code: 0, stdout: '42\n' })
    expect(second.stderr).toMatch(/^cell 2\n✓ cell 2 {2}\S+\n$/)
    const bad = await exec(name, 'bad.py')
    expect(bad).toMatchObject({ code: 1, stdout: 'before\n', stderr: expect.stringMatching(/ZeroDivisionError/) })
    expect(await exec(name, 'b.py', '--resume')).toMatchObject({ code: 0, stdout: '43\n' })
  })

  it('ptc exec --session reports that the previous session has ended, and fails with --resume', async () => {
    const name = uniqueSessionName()
    const none = { code: 1, stdout: '', stderr: expect.stringContaining(`ptc: there is no session ${name}\n`) }
    expect(await exec(name, 'b.py', '--resume')).toEqual(none)
    await exec(name, 'a.py')
    expect(await project.run('sessions', 'close', name)).toEqual({
      code: 0,
      stdout: '',
      stderr: `session ${name} is closed (cells: 1, tool calls: 1)\n`,
    })
    expect(await exec(name, 'b.py', '--resume')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`session ${name} was closed; its variables are gone`),
    })
    expect(await exec(name, 'b.py')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^session \S+ has ended \(closed\): a new one begins, without its variables\n[^]*NameError/m,
      ),
    })
  })

  it('ptc exec --session --json prints one object on success and failure', async () => {
    const name = uniqueSessionName()
    const { code, stdout } = await exec(name, 'a.py', '--json')
    expect(JSON.parse(stdout)).toStrictEqual({
      session: name,
      workflowId: sessionWorkflowId(taskQueue, name),
      runId: expect.any(String),
      isNew: true,
      previous: null,
      cell: 1,
      status: 'ok',
      answer: 'a\n',
      toolCalls: 1,
      durationMs: expect.any(Number),
    })
    expect(code).toBe(0)
    const missing = await exec(uniqueSessionName(), 'a.py', '--json', '--resume')
    expect(JSON.parse(missing.stdout)).toMatchObject({ status: 'failed', error: { code: 'SESSION_NOT_FOUND' } })
    expect(missing.code).toBe(1)
  })

  it('interrupting ptc exec --session stops the code; the session keeps its variables', async () => {
    const name = uniqueSessionName()
    await exec(name, 'a.py')
    const ptc = project.start('exec', '--session', name, '-').input('x = 1\nawait wait()')
    await waitForActivity(sessionWorkflowId(taskQueue, name), 'wait')
    ptc.signal('SIGINT')
    const { code, stderr } = await ptc.result
    expect(stderr).toMatch(/^interrupting the code; press Ctrl-C again to leave it running$/m)
    expect(stderr).toMatch(/^Interrupted: the code was stopped while it waited$/m)
    expect(code).toBe(130)
    expect(await exec(name, 'b.py')).toMatchObject({ code: 0, stdout: '2\n' })
  })

  it('the second interrupt of ptc exec --session exits although the code runs on, and says how to stop it', async () => {
    const name = uniqueSessionName()
    await exec(name, 'a.py')
    const stubborn = 'while True:\n  try:\n    while True: pass\n  except BaseException: pass'
    const ptc = project.start('exec', '--session', name, '-').input(stubborn)
    await waitForActivity(sessionWorkflowId(taskQueue, name), 'session.step')
    ptc.signal('SIGINT')
    await ptc.waitForOutput(/interrupting the code/)
    ptc.signal('SIGINT')
    const { code, stderr } = await ptc.result
    expect(stderr).toContain(`the code continues in session ${name}; \`ptc sessions close ${name}\` stops it`)
    expect(code).toBe(130)
    expect(await project.run('sessions', 'show', name)).toMatchObject({ stdout: expect.stringMatching(/State +busy/) })
    expect(await project.run('sessions', 'close', name)).toMatchObject({ code: 0 })
  })

  it('a session can be interrupted by its name from another process', async () => {
    const name = uniqueSessionName()
    const ptc = project.start('exec', '--session', name, '-').input('await wait()')
    await waitForActivity(sessionWorkflowId(taskQueue, name), 'wait')
    expect(await project.run('sessions', 'interrupt', name)).toMatchObject({ code: 0 })
    expect(await ptc.result).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/Interrupted: the code was stopped/),
    })
  })

  it.each([
    [['exec'], /a script is missing/],
    [['exec', 'a.py', '--resume'], /--resume needs --session/],
    [['exec', 'a.py', '--session', 'no name'], /"no name" can't be the name of a session/],
    [['exec', 'a.py', '--session', 'n', '--id', 'x'], /'--id <id>' cannot be used with option '--session/],
    [['exec', '-i', '--json'], /cannot be used with option/],
    [['exec', '-i', '-'], /the code comes from standard input/],
    [['sessions', 'close'], /missing required argument 'name'/],
    [['sessions', 'shwo', 'x'], /unknown command 'shwo'/],
  ])('ptc %j is a wrong command line', async (ptcArguments, message) => {
    const { code, stdout, stderr } = await project.run(...ptcArguments)
    expect(stderr).toMatch(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

describe('ptc sessions', () => {
  it('ptc sessions lists, shows and closes a session', async () => {
    await project.run('sessions', 'close-all')
    const [one, other] = [uniqueSessionName(), uniqueSessionName()]
    await exec(one, 'a.py')
    await exec(other, 'a.py')
    await expect
      .poll(async () => (await project.run('sessions', 'list')).stdout)
      .toMatch(
        new RegExp(`^NAME +OWNER +STATE[^]*\\n${other} +session +idle +wasm +1 +1 .*in [^]*\\n${one} +session +idle`),
      )
    const { stdout } = await project.run('sessions', 'list', '--json')
    expect(JSON.parse(stdout)).toMatchObject([{ name: other, state: 'idle', cells: 1 }, { name: one }])
    const shown = await project.run('sessions', 'show', one, '--json')
    expect(JSON.parse(shown.stdout)).toMatchObject({ name: one, backend: 'wasm', toolCalls: 1 })
    expect(await project.run('sessions', 'close', one, '--json')).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify({ session: one, ended: 'closed', cells: 1, toolCalls: 1 })}\n`,
    })
    expect(await project.run('sessions', 'close', one)).toMatchObject({ code: 1 })
    expect(await project.run('sessions', 'close-all')).toMatchObject({ code: 0, stderr: `closed: ${other}\n` })
    expect(await project.run('sessions', 'show', other)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`session ${other} was closed`),
    })
  })
})

describe('the sandbox of a run', () => {
  it('ptc sessions lists the sandbox of a run, and refuses to close it, with a remedy', async () => {
    const id = uniqueSessionName()
    const running = project.start('exec', '-', '--id', id).input('await wait()')
    await waitForActivity(id, 'wait')
    const list = async () => (await project.run('sessions', 'list')).stdout
    await expect.poll(list).toMatch(new RegExp(`^${id} +program +busy +wasm +1 +1 .*with its run$`, 'm'))
    expect(await project.run('sessions', 'close', id)).toEqual({
      code: 1,
      stdout: '',
      stderr: `ptc: ${id} is the sandbox of a run (program), and ends with it\n\`ptc cancel ${id}\` stops the run.\n`,
    })
    expect(await project.run('cancel', id)).toMatchObject({ code: 0 })
    expect(await running.result).toMatchObject({ code: 130 })
  })
})

describe('ptc exec -i', () => {
  it('ptc exec -i executes a pipe block by block, and continues after an error', async () => {
    const code =
      'def double(n):\n  return 2 * n\n\nprint(double(4))\nnothing\nx = [\n1,\n2]\nprint(await add(a=x[0], b=x[1]))'
    const { code: exitCode, stdout, stderr } = await project.start('exec', '-i').input(code).result
    expect(stdout).toBe('8\n3\n')
    expect(stderr).toMatch(/^new session repl-\w{10}\n[^]*NameError: name 'nothing'/)
    expect(exitCode).toBe(0)
    const name = /repl-\w+/.exec(stderr)?.[0] ?? ''
    expect(await project.run('sessions', 'show', name)).toMatchObject({
      stderr: expect.stringContaining('was closed'), // an unnamed session
    })
  })

  it('ptc exec -i continues a named session, after an optional script, and keeps it', async () => {
    const name = uniqueSessionName()
    await exec(name, 'a.py')
    const { stdout, stderr } = await project
      .start('exec', '-i', '--session', name, 'b.py')
      .input('print(x + 1)\nexit()\nprint(0)').result
    expect(stdout).toBe('42\n43\n')
    expect(stderr).toContain(`session ${name} stays until it expires`)
    expect(await exec(name, 'b.py')).toMatchObject({ stdout: '43\n' })
  })

  it('ptc exec -i at a terminal: prompts, Ctrl-C discards the typed block, Ctrl-D exits', async () => {
    const terminal = PseudoTerminal.start(project, 'exec', '-i')
    await terminal.waitForScreen(/>>> $/)
    terminal.type('def f():\r')
    await terminal.waitForScreen(/\.\.\. $/)
    terminal.type('  return 7\r\r')
    await terminal.waitForScreen(/new session repl-\w+[^]*>>> $/)
    terminal.type('print(f() * 6)\r')
    await terminal.waitForScreen(/[\n\r]42\r?\n[^]*>>> $/)
    terminal.type('broken(\rhalf')
    await terminal.waitForScreen(/half$/)
    terminal.type('\u0003')
    await terminal.waitForScreen(/>>> $/)
    terminal.type('print("still", f())\r')
    await terminal.waitForScreen(/still 7\r?\n[^]*>>> $/)
    terminal.type('\u0004')
    expect(await terminal.exitCode).toBe(0)
  })

  it('ptc exec -i at a terminal: Ctrl-C stops the running code, and the next block is read', async () => {
    const name = uniqueSessionName()
    const terminal = PseudoTerminal.start(project, 'exec', '-i', '--session', name)
    await terminal.waitForScreen(/>>> $/)
    terminal.type('\u0003')
    await terminal.waitForScreen(/exit or Ctrl-D to leave[^]*>>> $/)
    terminal.type('x = 7\r')
    await terminal.waitForScreen(/new session[^]*>>> $/)
    terminal.type('await wait()\r')
    await terminal.waitForScreen(/calls 0\/1 done · wait/)
    terminal.type('\u0003')
    await terminal.waitForScreen(/Interrupted: the code was stopped[^]*>>> $/)
    terminal.type('for n in range(10**12): pass\r\r')
    await terminal.waitForScreen(/cell 3 runs/)
    terminal.type('\u0003')
    await terminal.waitForScreen(/line 1, in <module>[^]*KeyboardInterrupt[^]*>>> $/)
    terminal.type('print(x * 6)\r')
    await terminal.waitForScreen(/[\n\r]42\r?\n[^]*>>> $/)
    terminal.type('\u0004')
    expect(await terminal.exitCode).toBe(0)
  })

  it('ptc exec -i at a terminal: the second Ctrl-C exits, and closes an unnamed session', async () => {
    const terminal = PseudoTerminal.start(project, 'exec', '-i')
    await terminal.waitForScreen(/>>> $/)
    terminal.type('print(1)\r')
    const [, name = ''] = await terminal.waitForScreen(/new session (repl-\w+)[^]*>>> $/)
    terminal.type('while True:\r  try:\r    while True: pass\r  except BaseException: pass\r\r')
    await terminal.waitForScreen(/cell 2 runs/)
    terminal.type('\u0003')
    await terminal.waitForScreen(/interrupting the code/)
    terminal.type('\u0003')
    expect(await terminal.exitCode).toBe(130)
    expect((await project.run('sessions', 'show', name)).stderr).toContain(`session ${name} was closed`)
  })
})

/** Settles when an activity of this type runs in a workflow. */
async function waitForActivity(workflowId: string, type: string): Promise<void> {
  const client = await connectClient()
  const types = async (): Promise<unknown[]> => {
    const { raw } = await client.workflow.getHandle(workflowId).describe()
    return raw.pendingActivities?.map(({ activityType }) => activityType?.name) ?? []
  }
  try {
    await expect.poll(() => types().catch(() => [])).toContain(type)
  } finally {
    await client.connection.close()
  }
}
