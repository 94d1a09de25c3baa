import { expect, test } from 'vitest'
import { describeUnserved } from './unserved-queue.js'

const now = 1_000_000
const queue = { taskQueue: 'q.model', role: 'model', waitingSince: now - 12_000, lastPolledAt: now - 48_000 } as const

test.each([
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
])('a queue without a worker is described: %j', (described, text) => {
  expect(describeUnserved(described, now)).toBe(text)
})
