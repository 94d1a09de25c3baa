import { expect, it } from 'vitest'
import { inMode } from '../support/mode.js'
import { Stack } from '../support/stack.js'
import { tool } from '../support/tools.js'
import { faults } from './faults.js'

/** TASK_QUEUE_KIND_STICKY: the task goes to the worker that remembers the workflow, with what is new only. */
const sticky = 2

// Run without a mode it is the control: none of the faults happens by itself.
it('the faults of the mode happen, and no others', async () => {
  const stack = await Stack.start({ tools: [tool('echo', ({ value }) => value)] })
  const { outcome } = await stack.run('a = await echo(value="a")\nb = await echo(value="b")\nprint(a + b)')
  expect(outcome).toMatchObject({ status: 'ok', output: 'ab\n' })

  const { events } = await stack.history()
  const tasks: readonly number[] = events.flatMap(
    ({ workflowTaskScheduledEventAttributes: task }) => task?.taskQueue?.kind ?? [],
  )
  const rememberedTasks = tasks.filter((kind) => kind === sticky).length
  const opened = (await stack.activities()).filter(({ type }) => type === 'session.open').length
  expect({ forgets: rememberedTasks === 0, opened, ...faults }).toEqual({
    forgets: inMode('always-replay'),
    forgetfulWorkers: inMode('always-replay') ? expect.any(Number) : 0,
    // One for each of the two calls, and the first.
    opened: inMode('always-evict') ? 3 : 1,
    sandboxesDestroyed: inMode('always-evict') ? 2 : 0,
    // The greeting, two calls, the end.
    connectionsDropped: inMode('always-reattach') ? expect.toSatisfy((count: number) => count >= 4) : 0,
  })
})
