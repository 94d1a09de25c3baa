import { Context } from '@temporalio/activity'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../../src/index.js'
import { startOtherWorker } from '../../../support/environment/other-worker.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { uniqueName } from '../../../support/temporal/shared-server.js'

it('a remote activity without heartbeats that never ends is stopped by the timeout of its tool', async () => {
  const taskQueue = uniqueName('elsewhere')
  const common = { description: 'Of a test.', input: z.looseObject({}), output: z.null(), timeout: '2s' } as const
  const activity = { type: 'hang', taskQueue } as const
  const env = await TestEnvironment.start({
    tools: [
      defineTool({
        ...common,
        name: 'wait',
        effect: 'read',
        retry: { attempts: 2, initialInterval: '10ms' },
        activity,
      }),
      defineTool({ ...common, name: 'wait_once', effect: 'once', activity }),
    ],
  })
  const startedIds: string[] = []
  const hang = (): Promise<never> => {
    startedIds.push(Context.current().info.activityId)
    // Rejects when the worker is shut down. An activity without heartbeats gets no other notice.
    return Context.current().cancelled
  }
  await startOtherWorker({ taskQueue, activities: { hang } })
  const { outcome } = await env.runProgram(`
import asyncio
for error in await asyncio.gather(wait(), wait_once(), return_exceptions=True):
    print(f"{type(error).__name__}: {error}")`)
  const reason = `task queue ${taskQueue} did not answer within 2 seconds`
  expect(outcome.output.trimEnd().split('\n')).toEqual([
    `ToolTimedOut: wait: ${reason}`,
    expect.stringMatching(new RegExp(`^ToolOutcomeUnknown: wait_once may or may not have happened: ${reason}`)),
  ])
  const { turns } = await env.ptc.handle(env.lastRun.workflowId).tree()
  expect(turns[0]?.cells[0]?.calls.map(({ tool, status, attempts }) => [tool, status, attempts])).toEqual([
    ['wait', 'timed_out', 2],
    ['wait_once', 'outcome_unknown', 1],
  ])
  expect(startedIds.toSorted()).toEqual(['turn-0.cell-1.call-1', 'turn-0.cell-1.call-1', 'turn-0.cell-1.call-2'])
})
