import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionWorkflowId } from '../../src/client/sessions/name.js'
import { patient } from '../support/patient.js'
import { connectClient, testTemporal, uniqueName } from '../support/temporal.js'
import { type Ended, Project, type Ptc } from './ptc.js'
import { Terminal } from './terminal.js'

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

let project: Project
let worker: Ptc

beforeAll(async () => {
  project = await Project.create({ 'ptc.config.ts': configuration }, { TEMPORAL_ADDRESS: testTemporal().address })
  await project.write('a.py', 'x = await add(a=40, b=1)\nprint("a")')
  await project.write('b.py', 'x += 1\nprint(x)')
  await project.write('bad.py', 'print("before")\n1 / 0')
  worker = project.start('worker')
  await worker.said(/worker ready/)
})

afterAll(async () => {
  await project.run('sessions', 'close-all')
  await project[Symbol.asyncDispose]()
})

const newName = (): string => uniqueName('cli').slice(0, 16)

function exec(name: string, ...more: readonly string[]): Promise<Ended> {
  return project.run('exec', '--session', name, ...more)
}

describe('ptc exec --session', () => {
  it('gives a program the variables of the one before', async () => {
    const name = newName()
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

  it('says that the session before is over; with --resume it fails instead', async () => {
    const name = newName()
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

  it('gives scripts one object, whatever happens', async () => {
    const name = newName()
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
    const missing = await exec(newName(), 'a.py', '--json', '--resume')
    expect(JSON.parse(missing.stdout)).toMatchObject({ status: 'failed', error: { code: 'SESSION_NOT_FOUND' } })
    expect(missing.code).toBe(1)
  })

  it('that is interrupted stops the code; the session keeps its variables', async () => {
    const name = newName()
    await exec(name, 'a.py')
    const ptc = project.start('exec', '--session', name, '-').input('x = 1\nawait wait()')
    await toolRuns(sessionWorkflowId(taskQueue, name), 'wait')
    ptc.signal('SIGINT')
    const { code, stderr } = await ptc.ended
    expect(stderr).toMatch(/^interrupting the code; once more to leave it to itself$/m)
    expect(stderr).toMatch(/^KeyboardInterrupt: the code was stopped while it waited$/m)
    expect(code).toBe(130)
    expect(await exec(name, 'b.py')).toMatchObject({ code: 0, stdout: '2\n' })
  })

  it('that is interrupted twice leaves code that will not stop, and says how to stop it', async () => {
    const name = newName()
    await exec(name, 'a.py')
    const stubborn = 'while True:\n  try:\n    while True: pass\n  except BaseException: pass'
    const ptc = project.start('exec', '--session', name, '-').input(stubborn)
    await toolRuns(sessionWorkflowId(taskQueue, name), 'session.advance')
    ptc.signal('SIGINT')
    await ptc.said(/interrupting the code/)
    ptc.signal('SIGINT')
    const { code, stderr } = await ptc.ended
    expect(stderr).toContain(`the code goes on in session ${name}; \`ptc sessions close ${name}\` stops it`)
    expect(code).toBe(130)
    expect(await project.run('sessions', 'show', name)).toMatchObject({ stdout: expect.stringMatching(/State +busy/) })
    expect(await project.run('sessions', 'close', name)).toMatchObject({ code: 0 })
  })

  it('is interrupted from elsewhere by its name', async () => {
    const name = newName()
    const ptc = project.start('exec', '--session', name, '-').input('await wait()')
    await toolRuns(sessionWorkflowId(taskQueue, name), 'wait')
    expect(await project.run('sessions', 'interrupt', name)).toMatchObject({ code: 0 })
    expect(await ptc.ended).toMatchObject({ code: 130, stderr: expect.stringMatching(/KeyboardInterrupt/) })
  })

  it.each([
    [['exec'], /which script\?/],
    [['exec', 'a.py', '--resume'], /--resume needs --session/],
    [['exec', 'a.py', '--session', 'no name'], /"no name" can't be the name of a session/],
    [['exec', 'a.py', '--session', 'n', '--id', 'x'], /'--id <id>' cannot be used with option '--session/],
    [['exec', '-i', '--json'], /cannot be used with option/],
    [['exec', '-i', '-'], /standard input is read block by block/],
    [['sessions', 'close'], /missing required argument 'name'/],
    [['sessions', 'shwo', 'x'], /unknown command 'shwo'/],
  ])('ptc %j is a wrong command line', async (ptcArguments, message) => {
    const { code, stdout, stderr } = await project.run(...ptcArguments)
    expect(stderr).toMatch(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

describe('ptc sessions', () => {
  it('lists, shows, closes', async () => {
    await project.run('sessions', 'close-all')
    const [one, other] = [newName(), newName()]
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
  it('is in the list, and closing it says what to do instead', async () => {
    const id = newName()
    const running = project.start('exec', '-', '--id', id).input('await wait()')
    await toolRuns(id, 'wait')
    const list = async () => (await project.run('sessions', 'list')).stdout
    await expect.poll(list, patient).toMatch(new RegExp(`^${id} +program +busy +wasm +1 +1 .*with its run$`, 'm'))
    expect(await project.run('sessions', 'close', id)).toEqual({
      code: 1,
      stdout: '',
      stderr: `ptc: ${id} is the sandbox of a run (program), and ends with it\n\`ptc cancel ${id}\` stops the run.\n`,
    })
    expect(await project.run('cancel', id)).toMatchObject({ code: 0 })
    expect(await running.ended).toMatchObject({ code: 130 })
  })
})

describe('ptc exec -i', () => {
  it('executes a pipe block by block, and goes on after an error', async () => {
    const code =
      'def double(n):\n  return 2 * n\n\nprint(double(4))\nnothing\nx = [\n1,\n2]\nprint(await add(a=x[0], b=x[1]))'
    const { code: exitCode, stdout, stderr } = await project.start('exec', '-i').input(code).ended
    expect(stdout).toBe('8\n3\n')
    expect(stderr).toMatch(/^new session repl-\w{10}\n[^]*NameError: name 'nothing'/)
    expect(exitCode).toBe(0)
    const name = /repl-\w+/.exec(stderr)?.[0] ?? ''
    expect(await project.run('sessions', 'show', name)).toMatchObject({
      stderr: expect.stringContaining('was closed'), // nobody else knows of it
    })
  })

  it('goes on with a named session, after a script if one is given, and leaves it', async () => {
    const name = newName()
    await exec(name, 'a.py')
    const { stdout, stderr } = await project
      .start('exec', '-i', '--session', name, 'b.py')
      .input('print(x + 1)\nexit()\nprint(0)').ended
    expect(stdout).toBe('42\n43\n')
    expect(stderr).toContain(`session ${name} stays until it expires`)
    expect(await exec(name, 'b.py')).toMatchObject({ stdout: '43\n' })
  })

  it('at a terminal: prompts, takes back what was typed by Ctrl-C, leaves by Ctrl-D', async () => {
    const terminal = Terminal.start(project, 'exec', '-i')
    await terminal.shows(/>>> $/)
    terminal.type('def f():\r')
    await terminal.shows(/\.\.\. $/)
    terminal.type('  return 7\r\r')
    await terminal.shows(/new session repl-\w+[^]*>>> $/)
    terminal.type('print(f() * 6)\r')
    await terminal.shows(/[\n\r]42\r?\n[^]*>>> $/)
    terminal.type('broken(\rhalf')
    await terminal.shows(/half$/)
    terminal.type('\u0003')
    await terminal.shows(/>>> $/)
    terminal.type('print("still", f())\r')
    await terminal.shows(/still 7\r?\n[^]*>>> $/)
    terminal.type('\u0004')
    expect(await terminal.ended).toBe(0)
  })

  it('at a terminal: Ctrl-C stops what runs, shown with its calls, and the next block is read', async () => {
    const name = newName()
    const terminal = Terminal.start(project, 'exec', '-i', '--session', name)
    await terminal.shows(/>>> $/)
    terminal.type('\u0003')
    await terminal.shows(/exit or Ctrl-D leaves[^]*>>> $/)
    terminal.type('x = 7\r')
    await terminal.shows(/new session[^]*>>> $/)
    terminal.type('await wait()\r')
    await terminal.shows(/calls 0\/1 done · wait/)
    terminal.type('\u0003')
    await terminal.shows(/KeyboardInterrupt[^]*>>> $/)
    terminal.type('for n in range(10**12): pass\r\r')
    await terminal.shows(/cell 3 runs/)
    terminal.type('\u0003')
    await terminal.shows(/line 1, in <module>[^]*KeyboardInterrupt[^]*>>> $/)
    terminal.type('print(x * 6)\r')
    await terminal.shows(/[\n\r]42\r?\n[^]*>>> $/)
    terminal.type('\u0004')
    expect(await terminal.ended).toBe(0)
  })

  it('at a terminal: the second Ctrl-C leaves, and ends a session that nobody named', async () => {
    const terminal = Terminal.start(project, 'exec', '-i')
    await terminal.shows(/>>> $/)
    terminal.type('print(1)\r')
    const [, name = ''] = await terminal.shows(/new session (repl-\w+)[^]*>>> $/)
    terminal.type('while True:\r  try:\r    while True: pass\r  except BaseException: pass\r\r')
    await terminal.shows(/cell 2 runs/)
    terminal.type('\u0003')
    await terminal.shows(/interrupting the code/)
    terminal.type('\u0003')
    expect(await terminal.ended).toBe(130)
    expect((await project.run('sessions', 'show', name)).stderr).toContain(`session ${name} was closed`)
  })
})

/** Settles when an activity of this type is under way in a workflow. */
async function toolRuns(workflowId: string, type: string): Promise<void> {
  const client = await connectClient()
  const types = async (): Promise<unknown[]> => {
    const { raw } = await client.workflow.getHandle(workflowId).describe()
    return raw.pendingActivities?.map(({ activityType }) => activityType?.name) ?? []
  }
  try {
    await expect.poll(() => types().catch(() => []), patient).toContain(type)
  } finally {
    await client.connection.close()
  }
}
