import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { fileStream, redisStream, type StreamEvent } from '../../../src/stream/index.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, call, code, faulty, text, turn } from '../../support/script.js'
import { describeRedis, RedisServer } from '../../support/stream/redis-server.js'
import { readEvents, shownText } from '../../support/stream/shown-text.js'
import { Deferred, tool } from '../../support/tools.js'

const answer = 'The travel budget was exceeded by Ada, Lin and Grace in the third quarter.'
const source = 'x = await ping(n=1)\nprint("code said:", x)'

const typesOf = (events: readonly StreamEvent[]): readonly string[] => events.map(({ type }) => type)

/** The next event of a type. */
async function nextOf(stream: AsyncIterator<StreamEvent, void>, type: StreamEvent['type']): Promise<StreamEvent> {
  for (;;) {
    const { value } = await stream.next()
    if (!value) throw new Error(`the stream ended before ${type}`)
    if (value.type === type) return value
  }
}

it('a live stream delivers text before the turn ends, and voids it when the attempt fails', async () => {
  const stream = fileStream({ folder: await temporaryFolder() })
  const env = await TestEnvironment.start({
    stream,
    model: { idleTimeout: '2s' },
    script: [faulty([{ type: 'stall', at: { insideBlock: 0 }, attempt: 1 }], turn(text(answer)))],
  })
  const { workflowId } = await env.startAgent()
  const events = env.ptc.handle(workflowId).stream()
  const first = await nextOf(events, 'text.delta')
  // The model has sent half of its reply, and hangs: the turn has no result.
  const { events: history } = await env.history()
  expect(history.filter((event) => event.activityTaskCompletedEventAttributes)).toHaveLength(1) // run.config
  expect(answer.startsWith(shownText([first]))).toBe(true)
  await expect(nextOf(events, 'turn.failed')).resolves.toMatchObject({ code: 'MODEL_TIMEOUT' })
  await expect(nextOf(events, 'retry')).resolves.toMatchObject({ unit: 'turn/1', attempt: 2 })
  await expect(nextOf(events, 'reset')).resolves.toMatchObject({ unit: 'turn/1' })
  await nextOf(events, 'turn.completed')
  await expect(nextOf(events, 'end')).resolves.toMatchObject({ status: 'completed' })
  const all = await readEvents(env.ptc.handle(workflowId).stream())
  expect(shownText(all)).toBe(answer)
  expect(typesOf(all)).not.toContain('gap')
})

it('a live stream delivers code, calls and output, and continues at an offset', async () => {
  const stream = fileStream({ folder: await temporaryFolder() })
  const release = new Deferred()
  const env = await TestEnvironment.start({
    stream,
    tools: [
      tool('ping', async (_input, { milestone }) => {
        milestone('half\n way')
        return release.promise.then(() => 'pong')
      }),
    ],
    script: [turn(text('I call. '), { ...code(source), id: 'toolu_code' }), turn(call('ping')), answerResult],
  })
  const { workflowId } = await env.startAgent()
  const handle = env.ptc.handle(workflowId)
  const before: StreamEvent[] = []
  for await (const event of handle.stream()) {
    before.push(event)
    if (event.type === 'call.started') break
  }
  release.resolve()
  const after = await readEvents(handle.stream({ from: before.at(-1)?.offset ?? '' }))
  const all = [...before, ...after]
  expect(await readEvents(handle.stream())).toEqual([...all.slice(0, -1), { ...all.at(-1), time: expect.any(Number) }])
  expect(shownText(all)).toBe('I call. pong')
  expect(shownText(all, 'code')).toBe(source)
  expect(shownText(all, 'output')).toBe('code said: pong\n')
  expect(typesOf(all).filter((type) => !['turn.progressed', 'text.delta', 'code.delta'].includes(type))).toEqual([
    'run.started',
    'turn.started',
    'turn.completed',
    'cell.started',
    'call.started',
    'milestone.reached',
    'call.completed',
    'output.delta',
    'cell.completed',
    'turn.started',
    'turn.completed',
    'call.started',
    'milestone.reached',
    'call.completed',
    'turn.started',
    'turn.completed',
    'end',
  ])
  expect(all.find(({ type }) => type === 'milestone.reached')).toMatchObject({ tool: 'ping', text: 'half way' })
  expect(all.find(({ type }) => type === 'call.started')).toMatchObject({
    tool: 'ping',
    summary: 'ping 1',
    caller: 'code_execution',
    toolUseCaller: { type: 'code_execution_20260120', tool_id: expect.stringMatching(/^[a-zA-Z0-9]{9}$/) as string },
    turn: 1,
    cell: 1,
  })
  const direct = all.filter(({ type }) => type === 'call.started').at(-1)
  expect(direct).toMatchObject({ caller: 'direct', turn: 2, cell: 0 })
  expect(direct).not.toHaveProperty('toolUseCaller')
  await env.expectCleanEnd(env.lastRun)
})

it('a live stream delivers the output of code while it runs, and the tree has it without a stream', async () => {
  const env = await TestEnvironment.start({ stream: fileStream({ folder: await temporaryFolder() }) })
  const source = 'import time\npage = 0\nwhile True:\n    page += 1\n    print("page", page)\n    time.sleep(0.05)'
  const handle = await env.startProgram(source)
  const events = env.ptc.handle(handle.workflowId).stream()
  await expect(nextOf(events, 'output.preview')).resolves.toMatchObject({ text: expect.stringMatching(/^page 1\n/) })
  const tree = () => env.ptc.handle(handle.workflowId).tree()
  await expect.poll(async () => (await tree()).turns[0]?.cells[0]?.output).toMatch(/page \d+\npage/)
  await handle.cancel()
  await expect(nextOf(events, 'end')).resolves.toMatchObject({ status: 'cancelled' })
})

it('an unwritable stream neither fails nor delays a run, and has its end', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'file'), '')
  const stream = fileStream({ folder: join(folder, 'file') })
  const env = await TestEnvironment.start({ stream, script: [turn(text(answer))] })
  expect(await env.runAgent()).toMatchObject({ status: 'answered', answer })
  const events = await readEvents(env.ptc.handle(env.lastRun.workflowId).stream())
  expect(events).toMatchObject([{ type: 'gap' }, { type: 'end', status: 'completed' }])
})

it('a live stream has the end of a terminated run, with its cause', async () => {
  const env = await TestEnvironment.start({
    stream: fileStream({ folder: await temporaryFolder() }),
    tools: [tool('hang', (_input, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)))],
  })
  const handle = await env.startProgram('await hang()')
  const events = env.ptc.handle(handle.workflowId).stream()
  await nextOf(events, 'call.started')
  await handle.terminate('enough')
  await expect(nextOf(events, 'end')).resolves.toMatchObject({
    status: 'terminated',
    error: { code: 'RUN_TERMINATED', message: expect.stringContaining('enough') },
  })
})

it('rejects a stream of a client without one, of a missing run, and an aborted one', async () => {
  const stream = fileStream({ folder: await temporaryFolder() })
  const env = await TestEnvironment.start({ stream, tools: [tool('ping', () => 'pong')] })
  await expect(readEvents(env.ptc.handle('no-such-run').stream())).rejects.toMatchObject({ code: 'TEMPORAL_NOT_FOUND' })
  const { workflowId } = await env.startProgram('import asyncio\nawait asyncio.sleep(3600)')
  const controller = new AbortController()
  const events = env.ptc.handle(workflowId).stream({ signal: controller.signal })
  await nextOf(events, 'cell.started')
  const next = events.next()
  controller.abort(new Error('enough'))
  await expect(next).rejects.toThrow('enough')
  const other = await TestEnvironment.start()
  await expect(readEvents(other.ptc.handle(workflowId).stream())).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
})

describeRedis('with Redis', () => {
  it('a run continues while Redis hangs, and the stream delivers everything when Redis answers again', async () => {
    const server = await RedisServer.start()
    onTestFinished(() => server.close())
    const env = await TestEnvironment.start({
      stream: redisStream({ url: server.url }),
      tools: [tool('ping', () => 'pong')],
      script: [turn(code(source)), turn(text(answer))],
    })
    onTestFinished(() => server.resume())
    server.suspend()
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer })
    server.resume()
    const handle = env.ptc.handle(env.lastRun.workflowId)
    await expect.poll(async () => shownText(await readEvents(handle.stream()))).toBe(answer)
    const all = await readEvents(handle.stream())
    expect(shownText(all, 'code')).toBe(source)
    expect(typesOf(all)).not.toContain('gap')
  })
})
