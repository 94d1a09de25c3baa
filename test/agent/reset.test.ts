import { expect, it } from 'vitest'
import type { AgentResult } from '../../src/common/runs.js'
import { answerResult, code, turn } from '../support/script.js'
import { Stack } from '../support/stack.js'
import { testTemporal } from '../support/temporal.js'
import { tool } from '../support/tools.js'

it('a run that is reset gives the same answer with the same idempotency keys, and asks the model only for what is gone', async () => {
  const keys: string[] = []
  const charge = tool(
    'charge',
    (_input, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      return 'charged'
    },
    { effect: 'idempotent' },
  )
  const stack = await Stack.start({
    tools: [charge],
    script: [turn(code('x = await charge(n=1)')), turn(code('print(x, await charge(n=2))')), answerResult],
  })
  const handle = await stack.startAgent()
  await handle.result()
  // To where the first cell's call had just been made: the sandbox of that moment is long gone.
  const { events } = await stack.history(handle)
  const scheduled = events.findIndex(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'charge',
  )
  const workflowTaskFinishEventId = events[scheduled - 1]?.eventId ?? null
  const { namespace } = testTemporal()
  await stack.client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: handle.workflowId },
    workflowTaskFinishEventId,
    requestId: crypto.randomUUID(),
    reason: 'test',
  })
  const again = stack.client.workflow.getHandle(handle.workflowId)
  expect((await again.result()) as AgentResult).toMatchObject({
    status: 'answered',
    answer: 'charged charged',
    turns: 3,
  })
  expect(keys).toHaveLength(4)
  expect(keys.slice(2)).toEqual(keys.slice(0, 2))
  expect(stack.api.requests).toHaveLength(5)
  await stack.leftClean(again)
})
