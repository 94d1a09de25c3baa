import { defaultPayloadConverter, RawValue } from '@temporalio/common'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, ToolError } from '../../../../src/index.js'
import { startOtherWorker } from '../../../support/environment/other-worker.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { uniqueName } from '../../../support/temporal/shared-server.js'

it("tools may have names that code can't use, get floats as floats, and return them", async () => {
  const taskQueue = uniqueName('elsewhere')
  const any = { type: 'object', additionalProperties: true } as const
  const common = { description: 'Of a test.', effect: 'read' } as const
  const env = await TestEnvironment.start({
    tools: [
      defineTool({ ...common, name: 'shop.total', input: any, output: any, activity: { type: 'total', taskQueue } }),
      defineTool({
        ...common,
        name: 'sum',
        input: z.object({ values: z.array(z.number()) }),
        output: z.number(),
        run: ({ values }) => {
          if (values.length === 0) throw new ToolError('no values in /srv/app/data/values.csv')
          return values.reduce((total, value) => total + value, 0)
        },
      }),
    ],
  })
  // The payload has the format of a worker in Python.
  const data = new TextEncoder().encode('{"total": 31.0, "count": 2, "rows": [{"price": 1.0}, {"price": 2.0}]}')
  const payload = { metadata: { encoding: new TextEncoder().encode('json/plain') }, data }
  await startOtherWorker({ taskQueue, activities: { total: () => Promise.resolve(RawValue.fromPayload(payload)) } })
  const { outcome } = await env.runProgram(`
print(sum([1, 2]), await sum_tool(values=[1, 2]))
print(await shop_total(amount=30.0, count=30, rows=[{"price": 1.0}, {"price": 2.0}]))
try:
    await sum_tool(values=[])
except ToolError as error:
    print(error)`)
  expect(outcome).toMatchObject({
    status: 'ok',
    output: [
      '3 3',
      "{'total': 31.0, 'count': 2, 'rows': [{'price': 1.0}, {'price': 2.0}]}",
      'no values in /srv/app/data/values.csv',
      '',
    ].join('\n'),
  })
  const { events = [] } = await env.lastRun.fetchHistory()
  const scheduled = events?.flatMap(({ activityTaskScheduledEventAttributes: each }) => (each ? [each] : [])) ?? []
  const types = scheduled.map(({ activityType }) => activityType?.name)
  expect(types).toEqual(expect.arrayContaining(['sum', 'total']))
  const [sent] = scheduled.find(({ activityType }) => activityType?.name === 'total')?.input?.payloads ?? []
  expect(new TextDecoder().decode(sent?.data ?? undefined)).toBe(
    '{"amount":30.0,"count":30,"rows":[{"price":1.0},{"price":2.0}]}',
  )
  expect(sent && defaultPayloadConverter.fromPayload(sent)).toMatchObject({ amount: 30 })
})
