import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Script, type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'
import { TestProject, type PtcProcess } from '../../support/cli/ptc.js'

const taskQueue = uniqueName('cli')

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

const code = 'print(await add(a=40, b=2))'
const script: Script = {
  conversations: [
    {
      match: { firstUserText: 'refuse' },
      turns: [{ reply: { content: [{ type: 'text', text: 'I will not.' }], stop_reason: 'refusal' } }],
    },
    {
      match: { firstUserText: 'break' },
      turns: [
        {
          reply: { content: [{ type: 'text', text: 'never said' }] },
          faults: [{ type: 'status', status: 401, attempt: 'every' }],
        },
      ],
    },
    {
      turns: [
        { reply: { content: [{ type: 'tool_use', name: 'execute_code', input: { code } }] } },
        { reply: { content: [{ type: 'text', text: 'It is {{last_tool_result}}' }] } },
      ],
    },
  ],
}

let api: ScriptedMessagesApi
let project: TestProject
let worker: PtcProcess

beforeAll(async () => {
  api = await startScriptedMessagesApi({ script })
  project = await TestProject.create(
    { 'ptc.config.ts': configuration },
    { TEMPORAL_ADDRESS: sharedServer().address, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'test' },
  )
  worker = project.start('worker')
  await worker.waitForOutput(/worker ready: workflow, model, tools, sandbox on task queue/)
})

afterAll(async () => {
  await project[Symbol.asyncDispose]()
  await api.close()
})

/** Starts a run that waits, and follows its output. */
async function startWaiting(id: string): Promise<PtcProcess> {
  const ptc = project.start('exec', '-', '--id', id).input('await wait()')
  await ptc.waitForOutput(/cell 1/)
  return ptc
}

describe('ptc exec', () => {
  it('ptc exec prints exactly the output of the program', async () => {
    const { code: exitCode, stdout } = await project
      .start('exec', '-')
      .input('print(await add(a=1, b=2))\nprint("no line end", end="")').result
    expect(stdout).toBe('3\nno line end')
    expect(exitCode).toBe(0)
  })

  it('ptc exec prints the complete output, of which a model would get only head and tail', async () => {
    const long = 'for n in range(6_000): print(f"line {n}")\nawait add(a=1, b=2)\nprint("end")'
    const whole = `${Array.from({ length: 6_000 }, (_, n) => `line ${n}\n`).join('')}end\n`
    expect((await project.start('exec', '-').input(long).result).stdout).toBe(whole)
    const { stdout } = await project.start('exec', '-', '--json').input(long).result
    expect(JSON.parse(stdout)).toMatchObject({ answer: whole })
  })

  it('ptc exec prints the output before an error to stdout and the traceback to stderr, and exits with 1', async () => {
    await project.write('bad.py', 'print("before")\n1 / 0\n')
    const { code: exitCode, stdout, stderr } = await project.run('exec', 'bad.py')
    expect(stdout).toBe('before\n')
    expect(stderr).toMatch(/line 2[^]*ZeroDivisionError: division by zero/)
    expect(exitCode).toBe(1)
  })

  it('ptc exec --json prints one object', async () => {
    const { code: exitCode, stdout } = await project.start('exec', '-', '--json').input(code).result
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'ok',
      answer: '42\n',
      cells: 1,
      toolCalls: 1,
      turns: 0,
      costUsd: 0,
    })
    expect(exitCode).toBe(0)
  })
})

describe('ptc run', () => {
  it('ptc run prints the answer to stdout and progress to stderr', async () => {
    const { code: exitCode, stdout, stderr } = await project.run('run', 'How much is 40 + 2?')
    expect(stdout).toBe('It is 42\n')
    expect(stderr).toMatch(/run agent-\w{10}[^]*print\(await add/)
    expect(exitCode).toBe(0)
  })

  it('ptc run --json prints one object with the counts of the run', async () => {
    const { code: exitCode, stdout } = await project.run('run', 'How much is 40 + 2?', '--json')
    const report: unknown = JSON.parse(stdout)
    expect(report).toStrictEqual({
      workflowId: expect.stringMatching(/^agent-/),
      runId: expect.any(String),
      status: 'answered',
      answer: expect.stringContaining('It is 42'),
      turns: 2,
      cells: 1,
      toolCalls: 1,
      usage: {
        inputTokens: expect.any(Number),
        outputTokens: expect.any(Number),
        cacheReadTokens: expect.any(Number),
        cacheWriteTokens: expect.any(Number),
      },
      costUsd: expect.any(Number),
      durationMs: expect.any(Number),
    })
    expect(exitCode).toBe(0)
  })

  it('ptc run exits with 1 when the model declines', async () => {
    const { code: exitCode, stderr } = await project.run('run', 'please refuse')
    expect(stderr).toContain('ptc: the model declined to answer')
    expect(exitCode).toBe(1)
  })

  it('ptc run reports why a run failed, with --json including its counts', async () => {
    const { code: exitCode, stdout, stderr } = await project.run('run', 'break', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      workflowId: expect.stringMatching(/^agent-/),
      status: 'failed',
      answer: '',
      cells: 0,
      error: { code: 'MODEL_AUTH', message: expect.stringContaining('ANTHROPIC_API_KEY') },
    })
    expect(stderr).toMatch(/^ptc: .*ANTHROPIC_API_KEY/m)
    expect(exitCode).toBe(1)
  })

  it('ptc run --detach prints the id and exits; ptc watch prints the answer', async () => {
    const started = await project.run('run', '--detach', 'How much is 40 + 2?')
    expect(started.stdout).toMatch(/^agent-\w{10}\n$/)
    const watched = await project.run('watch', started.stdout.trim())
    expect(watched).toMatchObject({ code: 0, stdout: 'It is 42\n' })
  })

  it('F21: ptc run refuses an id that is running', async () => {
    const id = uniqueName('taken')
    const first = await startWaiting(id)
    const { code: exitCode, stderr } = await project.start('exec', '-', '--id', id).input('print(1)').result
    expect(stderr).toContain(`ptc: there is already a run ${id}`)
    expect(exitCode).toBe(1)
    first.signal('SIGINT')
    await first.result
  })
})

describe('reading runs', () => {
  it('ptc show and ptc list print the run, as text and as JSON', async () => {
    const id = uniqueName('seen')
    await project.run('run', 'How much is 40 + 2?', '--id', id)
    const shown = await project.run('show', id)
    expect(shown.stdout).toMatch(
      /How much is 40 \+ 2\?[^]*turn 1[^]*cell 1[^]*add\(a=40, b=2\)[^]*42[^]*turn 2[^]*It is 42/,
    )
    const tree: unknown = JSON.parse((await project.run('show', id, '--json')).stdout)
    expect(tree).toMatchObject({
      type: 'agent',
      workflowId: id,
      status: 'completed',
      totals: { turns: 2, toolCalls: 1 },
    })
    // Visibility lags behind the run itself.
    await expect
      .poll(async () => (await project.run('list')).stdout, { interval: 500 })
      .toMatch(new RegExp(`^${id} +completed .*How much is 40`, 'm'))
    const listed = JSON.parse((await project.run('list', '--json', '--status', 'completed')).stdout) as {
      workflowId: string
    }[]
    expect(listed.map(({ workflowId }) => workflowId)).toContain(id)
  })

  it('a pipe that is closed early is not an error', async () => {
    const ptc = project.start('list')
    ptc.destroyStdout()
    expect(await ptc.result).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('a failed write of the output', () => {
  const incomplete = expect.stringMatching(/^ptc: the output is incomplete: .*(ENOSPC|EFBIG)/m)

  it('a failed write of the output fails every command with the reason', async () => {
    const id = uniqueName('full')
    for (const [ptcArguments, input] of [
      [['exec', '-', '--id', id], code],
      [['show', id], ''],
      [['list', '--json'], ''],
      [['run', 'How much is 40 + 2?', '--json'], ''],
    ] as const) {
      const ended = await project.runInShell('exec "$@" >/dev/full', ptcArguments, input)
      expect({ ptcArguments, ...ended }).toEqual({ ptcArguments, code: 1, stderr: incomplete })
    }
  })

  it('a failed write of the output is detected also after a partial write', async () => {
    const long = 'for n in range(6_000): print(f"line {n}")'
    // The unit is 512 or 1,024 bytes.
    const ended = await project.runInShell('ulimit -f 32; exec "$@" >out', ['exec', '-'], long)
    expect(ended).toEqual({ code: 1, stderr: incomplete })
  })
})

describe('ending a run early', () => {
  it('ptc cancel ends the run; a command that follows it exits with 130', async () => {
    const id = uniqueName('cancelled')
    const following = await startWaiting(id)
    expect(await project.run('cancel', id)).toMatchObject({ code: 0 })
    const { code: exitCode, stderr } = await following.result
    expect(stderr).toContain(`ptc: run ${id} was cancelled`)
    expect(exitCode).toBe(130)
    const again = await project.run('cancel', id)
    expect(again.stderr).toContain(`ptc: run ${id} has already ended (cancelled)`)
    expect(again.code).toBe(1)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s while following a run cancels it and waits for its end',
    async (signal) => {
      const id = uniqueName('interrupted')
      const following = await startWaiting(id)
      following.signal(signal)
      const { code: exitCode, stderr } = await following.result
      expect(stderr).toMatch(/cancelling the run[^]*was cancelled/)
      expect(exitCode).toBe(130)
    },
  )

  it('Ctrl-C while watching a run leaves it running', async () => {
    const id = uniqueName('watched')
    const following = await startWaiting(id)
    const watching = project.start('watch', id)
    await watching.waitForOutput(new RegExp(`run ${id}`))
    watching.signal('SIGINT')
    const { code: exitCode, stderr } = await watching.result
    expect(stderr).toContain(`ptc: run ${id} continues`)
    expect(exitCode).toBe(130)
    expect((await project.run('show', id)).stdout).toMatch(/running/)
    following.signal('SIGINT')
    await following.result
  })
})

describe('Ctrl-C before a run has started', () => {
  it.runIf(process.platform === 'linux')(
    'Ctrl-C ends a command that waits for its input before a run has started (observed in /proc)',
    async () => {
      const ptc = project.start('exec', '-')
      await expect.poll(() => ptc.handlesSignals()).toBe(true)
      ptc.signal('SIGINT')
      expect(await ptc.result).toMatchObject({ code: 130, stdout: '', stderr: 'ptc: interrupted\n' })
    },
  )
})

describe('ptc worker', () => {
  it('ptc worker exits with 0 on SIGTERM', async () => {
    const other = project.start('worker', '--roles', 'workflow,tools', '--log-level', 'ERROR')
    await other.waitForOutput(/worker ready: workflow, tools on/)
    other.signal('SIGTERM')
    expect(await other.result).toMatchObject({ code: 0, stdout: '' })
  })
})
