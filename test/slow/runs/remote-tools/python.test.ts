import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../../src/index.js'
import { describeDependency } from '../../../support/docker/describe-dependency.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { waitForActivity } from '../../../support/environment/waits.js'
import { pythonPackages } from '../../../support/python/python-environment.js'
import { PythonWorker } from '../../../support/python/python-worker.js'
import { uniqueName } from '../../../support/temporal/shared-server.js'

const script = fileURLToPath(new URL('../../../fixtures/python/worker.py', import.meta.url))
const packages = await pythonPackages()
const missing = packages === undefined ? 'no Temporal SDK for Python' : undefined
const startWorker = (...args: string[]) => PythonWorker.start(packages ?? '', script, args)

const any = z.looseObject({})
const read = { description: 'Of a test.', effect: 'read' } as const
const once = { description: 'Of a test.', effect: 'once' } as const
const retry = { initialInterval: '10ms' } as const

describeDependency('PTC_TEST_PYTHON', 'tools of a worker in Python', missing, () => {
  const taskQueue = uniqueName('python')
  let env: TestEnvironment
  const cleanups: (() => Promise<void>)[] = []
  beforeAll(async () => {
    const worker = await startWorker(taskQueue)
    cleanups.push(() => worker.kill())
    env = await TestEnvironment.start({ tools: toolsOn(taskQueue), onCleanup: (end) => void cleanups.push(end) })
  })
  afterAll(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup()
  })
  const outputOf = async (source: string) => (await env.runProgram(source)).outcome.output.trimEnd().split('\n')

  it('tools in Python get arguments as a dict or a dataclass, with the defaults of the schema', async () => {
    const output = await outputOf(`
result = await describe(text="a", list=[1, None])
print(result["args"], result["activity_id"], result["fairness"])
print(await total(article="bolt"), await total(article="bolt", count=2))`)
    expect(output).toEqual(["{'list': [1, None], 'text': 'a'} turn-0.cell-1.call-1 python", '12 8'])
    // Only a default requires an activity of the engine before the call.
    const names = (await env.activities()).map(({ type }) => type)
    expect(names.filter((name) => name === 'tool.arguments')).toHaveLength(1)
    expect(names.filter((name) => name === 'total')).toHaveLength(2)
  })

  it('tools in Python get the call only if they ask for it', async () => {
    const [output = ''] = await outputOf('import json\nprint(json.dumps(await with_call(q=1)))')
    expect(JSON.parse(output)).toEqual({
      args: { q: 1 },
      call: {
        idempotencyKey: expect.stringMatching(/^[0-9a-f]{32}$/),
        tool: 'with_call',
        caller: 'code_execution',
        run: { namespace: 'default', workflowId: env.lastRun.workflowId, runId: expect.any(String) },
      },
    })
  })

  it('tools in Python fail with typed exceptions: wrong result, refusal, failure, unknown activity', async () => {
    const output = await outputOf(`
async def attempt(call):
    try:
        return await call
    except Exception as error:
        return f"{type(error).__name__}: {error}"

print(await attempt(wrong_result(article="bolt", count=1)))
for kind in ["refuse", "flaky", "stop", "final"]:
    print(kind, await attempt(fail(kind=kind)))
for kind in ["refuse", "final"]:
    print(kind, await attempt(fail_once(kind=kind)))
print(await attempt(not_there()))
print(await attempt(not_there_once()))`)
    expect(output).toEqual([
      'ToolError: the result of wrong_result does not fit its output schema:',
      '- expected string, received number',
      'refuse ToolError: not today',
      'flaky None',
      "stop ToolError: fail: KeyError: 'no such article'",
      'final ToolError: fail: Budget: out of budget',
      'refuse ToolError: not today',
      expect.stringMatching(/^final ToolOutcomeUnknown: fail_once may or may not have happened: Budget: out of budget/),
      expect.stringMatching(/^ToolDenied: task queue .* does not have it: NotFoundError: Activity function not_there/),
      expect.stringMatching(/^ToolDenied: task queue .* does not have it: NotFoundError: Activity function not_there/),
    ])
    const attempts = await env.ptc.handle(env.lastRun.workflowId).tree()
    const calls = attempts.turns[0]?.cells[0]?.calls ?? []
    expect(calls.map(({ tool, attempts }) => [tool, attempts])).toEqual([
      ['wrong_result', 1],
      ['fail', 1],
      ['fail', 3],
      ['fail', 1],
      ['fail', 1],
      ['fail_once', 1],
      ['fail_once', 1],
      ['not_there', 3],
      ['not_there_once', 1],
    ])
    expect(calls[0]).toMatchObject({ status: 'tool_error', message: expect.stringContaining('output schema') })
  })

  it('tools in Python may return protobuf messages; other results and unknown failures are outcomes', async () => {
    const output = await outputOf(`
print(await protobuf(seconds=0))
for call in [raw_bytes(), raw_bytes_once(), protobuf(fail=True)]:
    try:
        await call
    except Exception as error:
        print(f"{type(error).__name__}: {error}")`)
    expect(output).toEqual([
      '1970-01-01T00:00:00Z',
      'ToolError: raw_bytes: its result has the encoding "binary/plain", which is not JSON',
      'ToolError: raw_bytes_once: its result has the encoding "binary/plain", which is not JSON',
      'ToolError: protobuf: with details',
    ])
    await env.expectCleanEnd(env.lastRun)
  })

  it('tools in Python get large arguments up to a limit, and their large results are stored', async () => {
    const output = await outputOf(`
import asyncio
print([len((await describe(text="x" * size))["args"]["text"]) for size in [5_000, 120_000]])
try:
    await describe(text="x" * 140_000)
except Exception as error:
    print(type(error).__name__, error)
print(sum(len(part) for part in await asyncio.gather(*[grow(size=50_000) for _ in range(20)])))`)
    expect(output).toEqual([
      '[5000, 120000]',
      'ToolError The arguments are over the limit of 131072 bytes. Send less.',
      '1000000',
    ])
    const tree = await env.ptc.handle(env.lastRun.workflowId).tree()
    const last = tree.turns[0]?.cells[0]?.calls.at(-1)
    expect(last).toMatchObject({ status: 'ok', tool: 'grow', resultBytes: 100_002 })
    expect(last?.resultRef).toBeDefined()
  })

  it('tools in Python are called again when their worker is killed, except for effect once', async () => {
    const queue = uniqueName('killed')
    const activity = { taskQueue: queue, type: 'hang', heartbeatTimeout: '1s' } as const
    const tools = [
      defineTool({ ...read, name: 'hang', input: any, output: z.string(), retry, activity }),
      defineTool({ ...once, name: 'hang_once', input: any, output: z.string(), activity }),
    ]
    const [own, worker] = await Promise.all([TestEnvironment.start({ tools }), startWorker(queue, 'hang')])
    const handle = await own.startProgram(`
import asyncio
for result in await asyncio.gather(hang(), hang_once(), return_exceptions=True):
    print(repr(result))`)
    await waitForActivity(handle, 'hang')
    await worker.kill()
    const next = await startWorker(queue)
    try {
      const { outcome } = (await handle.result()) as { outcome: { output: string } }
      expect(outcome.output).toMatch(
        /^'attempt 2'\nToolOutcomeUnknown\(.*hang_once may or may not have happened.*\)\n$/,
      )
    } finally {
      await next.kill()
    }
    await own.expectCleanEnd(handle)
  })
})

function toolsOn(taskQueue: string) {
  const order = z.object({ article: z.string(), count: z.int().default(3) })
  const activity = { taskQueue }
  const noRetry = { ...retry, nonRetryableErrorTypes: ['KeyError'] }
  const priority = { priorityKey: 1, fairnessKey: 'python' }
  return [
    defineTool({ ...read, name: 'describe', input: any, output: any, activity, priority }),
    defineTool({ ...read, name: 'total', input: order, output: z.int(), activity }),
    defineTool({
      ...read,
      name: 'wrong_result',
      input: order,
      output: z.string(),
      activity: { taskQueue, type: 'total' },
    }),
    defineTool({ ...read, name: 'with_call', input: any, output: any, activity: { taskQueue, passCall: true } }),
    defineTool({ ...read, name: 'fail', input: any, output: z.null(), retry: noRetry, activity }),
    defineTool({ ...once, name: 'fail_once', input: any, output: z.null(), activity: { taskQueue, type: 'fail' } }),
    defineTool({ ...read, name: 'protobuf', input: any, output: z.string(), activity }),
    defineTool({ ...read, name: 'raw_bytes', input: any, output: z.string(), activity }),
    defineTool({
      ...once,
      name: 'raw_bytes_once',
      input: any,
      output: z.string(),
      activity: { taskQueue, type: 'raw_bytes' },
    }),
    defineTool({ ...read, name: 'grow', input: any, output: z.string(), activity }),
    defineTool({ ...read, name: 'not_there', input: any, output: z.null(), retry, activity }),
    defineTool({
      ...once,
      name: 'not_there_once',
      input: any,
      output: z.null(),
      activity: { taskQueue, type: 'not_there' },
    }),
  ]
}
