import { expect, it } from 'vitest'
import { z } from 'zod'
import { renderTree } from '../../../../src/cli/rendering/tree/render-tree.js'
import { metrics } from '../../../../src/common/telemetry/metrics.js'
import { defineTool } from '../../../../src/index.js'
import type { PtcConfig } from '../../../../src/config/define-config.js'
import { parseConfig } from '../../../../src/config/parse-config.js'
import { startQueueSampler } from '../../../../src/worker/resources/queue-sampler.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { pollOptions } from '../../../support/poll-options.js'
import { uniqueName } from '../../../support/temporal/shared-server.js'
import { tool } from '../../../support/tools.js'

const any = z.looseObject({})

it('a remote tool whose task queue no worker polls is reported, and refused after its schedule-to-start timeout', async () => {
  const taskQueue = uniqueName('nobody')
  const common = { description: 'Of a test.', input: any, output: z.null() } as const
  const activity = { taskQueue, type: 'lookup', scheduleToStartTimeout: '8s' } as const
  const tools = [
    defineTool({ ...common, name: 'look_up', effect: 'read', activity }),
    defineTool({ ...common, name: 'pay', effect: 'once', activity }),
    defineTool({ ...common, name: 'review', effect: 'once', timeout: '8s', workflow: { type: 'review', taskQueue } }),
  ]
  const env = await TestEnvironment.start({ tools })
  const handle = await env.startProgram(`
import asyncio
for error in await asyncio.gather(look_up(), pay(), review(), return_exceptions=True):
    print(f"{type(error).__name__}: {error}")`)
  const shown = async () => renderTree(await env.ptc.handle(handle.workflowId).tree(), { width: 200, color: false })
  await expect
    .poll(shown, pollOptions)
    .toMatch(new RegExp(`no worker takes tasks from ${taskQueue}: waiting for .*start the worker that has lookup`))
  await expect.poll(shown, pollOptions).toContain('start the worker that has review')
  await expect
    .poll(() => sampledAges(env, tools, taskQueue), pollOptions)
    .toEqual({
      tools: expect.any(Number),
      workflow: expect.any(Number),
    })
  const { outcome } = (await handle.result()) as { outcome: { output: string } }
  expect(outcome.output.trimEnd().split('\n')).toEqual([
    `ToolDenied: no worker took look_up from task queue ${taskQueue} within 8 seconds`,
    `ToolDenied: no worker took pay from task queue ${taskQueue} within 8 seconds`,
    expect.stringMatching(/^ToolOutcomeUnknown: review may or may not have happened: task queue .* did not answer/),
  ])
  await env.expectCleanEnd(handle)
})

it('workers poll the task queues of their own tools, with rate, priority and retry policy of each tool', async () => {
  const taskQueue = uniqueName('own')
  const startedAt: number[] = []
  const attempts: string[] = []
  class NotFound extends Error {}
  const env = await TestEnvironment.start({
    tools: [
      tool('limited', () => startedAt.push(performance.now()), { rate: { perSecond: 4 }, output: z.int() }),
      tool('queued', () => 'done', { taskQueue, priority: { priorityKey: 2, fairnessKey: 'acme' } }),
      tool(
        'failing',
        ({ kind }) => {
          attempts.push(kind as string)
          throw kind === 'final' ? new NotFound('gone') : new Error('again')
        },
        {
          retry: {
            attempts: 4,
            initialInterval: '20ms',
            backoffCoefficient: 1,
            maximumInterval: '1s',
            nonRetryableErrorTypes: ['NotFound'],
          },
        },
      ),
    ],
  })
  const { outcome } = await env.runProgram(`
import asyncio
print(await queued())
await asyncio.gather(*[limited() for _ in range(16)])
for kind in ["final", "again"]:
    try:
        await failing(kind=kind)
    except ToolError as error:
        print(error)`)
  expect(outcome).toMatchObject({ status: 'ok', output: 'done\ngone\nagain\n' })
  expect(attempts).toEqual(['final', 'again', 'again', 'again', 'again'])
  // The server lets a burst of one second's calls pass.
  expect(Math.max(...startedAt) - Math.min(...startedAt)).toBeGreaterThan(1_000)

  const { events } = await env.history()
  const scheduled = new Map(
    events.flatMap(({ activityTaskScheduledEventAttributes: attributes }) =>
      attributes ? [[attributes.activityType?.name, attributes] as const] : [],
    ),
  )
  expect(scheduled.get('queued')).toMatchObject({
    taskQueue: { name: taskQueue },
    priority: { priorityKey: 2, fairnessKey: 'acme' },
  })
  expect(scheduled.get('limited')?.taskQueue?.name).toBe(`${env.taskQueue}.tool.limited`)
  expect(scheduled.get('failing')?.retryPolicy).toMatchObject({
    backoffCoefficient: 1,
    maximumInterval: { seconds: expect.anything() },
  })
})

/** The report of a worker with role `workflow` about a task queue of tools, by role. It covers only waiting tasks. */
async function sampledAges(
  { client, taskQueue }: TestEnvironment,
  tools: PtcConfig['tools'],
  sampledQueue: string,
): Promise<object> {
  const ages: Record<string, number> = {}
  const set = (value: number, { task_queue, role = '' }: Record<string, string> = {}): void => {
    if (task_queue === sampledQueue && value > 0) ages[role] = value
  }
  const instrument = () => ({ set, add: set, record: set })
  metrics.use({ createCounter: instrument, createGauge: instrument, createHistogram: instrument })
  const { namespace } = client.options
  const config = parseConfig({ tools }, 'test')
  const { known: registry } = config.tools
  await startQueueSampler({ connection: client.connection, namespace, taskQueue, config, registry }).close()
  metrics.use(undefined)
  return ages
}
