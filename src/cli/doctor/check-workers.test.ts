import { expect, test } from 'vitest'
import { checkWorkers, toToolQueuesCheck, toWorkersCheck } from './check-workers.js'

const now = 1_000_000_000
const served = { taskQueue: '', pollers: 1, lastPolledAt: now - 3_000, backlog: 0, waitingSince: undefined }
const unserved = { ...served, pollers: 0, lastPolledAt: undefined, backlog: 2, waitingSince: now - 20_000 }

test('the check of workers reports the workers of every role', () => {
  expect(toWorkersCheck('q', [served, served, served, served], [], now)).toEqual({
    name: 'Workers',
    status: 'ok',
    message: [
      'task queue q',
      'workflow: 1 worker, last poll 3.0s ago',
      'model: 1 worker, last poll 3.0s ago',
      'tools: 1 worker, last poll 3.0s ago',
      'sandbox: 1 worker, last poll 3.0s ago',
    ].join('\n'),
  })
})

test('the check of workers warns about a role without a worker, with its backlog and how to start one', () => {
  expect(toWorkersCheck('q', [served, served, unserved, served], [], now)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('\ntools: no worker, 2 tasks waiting, the oldest for 20.0s\n'),
    remedy: 'Start one with `ptc worker --roles tools`, or everything at once with `ptc dev`.',
  })
})

test('the check of workers ignores role tools when the configuration has no tools', () => {
  const check = toWorkersCheck('q', [served, served, unserved, served], ['tools'], now)
  expect(check.status).toBe('ok')
  expect(check.message).not.toContain('tools')
})

test("the check of workers warns about a tool's task queue without a worker", () => {
  const python = { ...unserved, taskQueue: 'python' }
  const payments = { ...served, taskQueue: 'payments' }
  const queues = [
    { toolNames: ['look_up', 'forecast'], status: python },
    { toolNames: ['pay'], status: payments },
  ]
  expect(toToolQueuesCheck(queues, now)).toEqual({
    name: 'Tool queues',
    status: 'warning',
    message:
      'python (look_up, forecast): no worker, 2 tasks waiting, the oldest for 20.0s\npayments (pay): 1 worker, last poll 3.0s ago',
    remedy: 'Start the workers that have these activities or workflows.',
  })
  expect(toToolQueuesCheck(queues.slice(1), now).status).toBe('ok')
})

test('the check of workers is skipped for an invalid configuration, whose problems another check reports', async () => {
  const checks = await checkWorkers(undefined, true)
  expect(checks).toMatchObject([{ name: 'Workers', status: 'warning', message: expect.stringMatching(/^skipped: /) }])
})
