import { expect, test } from 'vitest'
import { describeUnserved } from './unserved-queue.js'

const now = 1_000_000
const queue = { taskQueue: 'q.model', role: 'model', waitingSince: now - 12_000, lastPolledAt: now - 48_000 } as const

test.each<[Parameters<typeof describeUnserved>[0], string]>([
  [
    queue,
    'no worker takes tasks from q.model: waiting for 12.0s, last poll 48.0s ago; `ptc worker --roles model` starts one',
  ],
  [
    { ...queue, lastPolledAt: undefined },
    'no worker takes tasks from q.model: waiting for 12.0s, no poll in the last 5 minutes; `ptc worker --roles model` starts one',
  ],
  [
    { ...queue, waitingSince: undefined },
    'no worker takes tasks from q.model: last poll 48.0s ago; `ptc worker --roles model` starts one',
  ],
  [
    { ...queue, taskQueue: 'q.host.box', role: undefined },
    'no worker takes tasks from q.host.box: waiting for 12.0s, last poll 48.0s ago; its sandbox host is gone or busy',
  ],
  [
    { ...queue, taskQueue: 'q.sandbox.docker', role: 'sandbox', sandbox: 'docker' },
    'no worker with the sandbox docker takes tasks from q.sandbox.docker: waiting for 12.0s, last poll 48.0s ago; ' +
      'start Docker and restart the worker, or start a worker where Docker runs',
  ],
  [
    { ...queue, taskQueue: 'q.sandbox.mine', role: 'sandbox', sandbox: 'mine' },
    'no worker with the sandbox mine takes tasks from q.sandbox.mine: waiting for 12.0s, last poll 48.0s ago; ' +
      '`ptc worker --roles sandbox` starts one where it has this sandbox',
  ],
  [
    { activity: 'charge', failedAttempts: 0, reason: 'the folder of values /v is gone' },
    'charge waits, and tries again by itself: the folder of values /v is gone',
  ],
  [
    { activity: 'session.open', failedAttempts: 7, reason: 'could not start:\nno daemon' },
    'session.open is tried again: 7 attempts failed, the last one: could not start: no daemon',
  ],
  [
    { ...queue, taskQueue: 'q', role: undefined, namespace: 'sales', waitingType: 'quotes.quote of Nexus endpoint e' },
    'no worker takes tasks from q in namespace sales: waiting for 12.0s, last poll 48.0s ago; ' +
      'start the worker that has quotes.quote of Nexus endpoint e',
  ],
  [
    { endpoint: 'e', operation: 'quotes.quote', waitingSince: now - 12_000, attempts: 3, reason: 'no\n  price' },
    'Nexus endpoint e has not started quotes.quote: waiting for 12.0s, 3 attempts, the last failed: no price',
  ],
])('a queue without a worker, or an endpoint that fails, is described: %j', (described, text) => {
  expect(describeUnserved(described, now)).toBe(text)
})
