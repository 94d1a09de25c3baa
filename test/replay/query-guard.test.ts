import type { WorkflowHandle } from '@temporalio/client'
import { expect, it } from 'vitest'
import { activityNames } from '../../src/common/names.js'
import { queryRun } from '../../src/client/query-run.js'
import { installRuntime, type RunningWorker } from '../../src/worker/index.js'
import { activityRuns } from '../support/pending-activities.js'
import { SplitStack } from '../support/split-stack.js'
import { Happening, tool } from '../support/tools.js'

installRuntime('ERROR', () => undefined)

// What each test waits for happens while no workflow worker runs and a query waits for one. Without the guard, the run
// then decides by the clock and the history of an earlier workflow task, and most of these histories do not replay.
const runs = 4

it('F31: a run replays that was queried without a workflow worker, while its sandbox was due to be parked', async () => {
  const release = new Happening<string>()
  const wait = tool('wait', () => release.happened, { timeout: '1h' })
  const stack = await SplitStack.start({ tools: [wait], timings: { park: '5s' } })
  const decider = await stack.startDecider()
  const handles = await several(() => stack.startProgram('print(await wait())'))
  for (const handle of handles) await activityRuns(handle, 'wait')

  const timerFired = (handle: WorkflowHandle) =>
    stack.hasEvents(handle, 1, ({ timerFiredEventAttributes }) => timerFiredEventAttributes != null)
  const next = await queryWithoutDecider(stack, decider, handles, timerFired)

  release.happen('done')
  for (const handle of handles) {
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'done\n' } })
    await stack.replays(handle)
  }
  await next.shutdown()
})

it('F31: a session replays that was queried without a workflow worker, while a snapshot became due', async () => {
  const stack = await SplitStack.start({ tools: [], snapshots: { time: '5s' } })
  const decider = await stack.startDecider()
  const sessions = await several(() => stack.startSession('import time; time.sleep(8)'))
  const handles = sessions.map(({ handle }) => handle)
  for (const handle of handles) await activityRuns(handle, activityNames.advanceSession)

  const codeEnded = (handle: WorkflowHandle) => stack.hasEvents(handle, activitiesBeforeCode + 1, isCompletion)
  const next = await queryWithoutDecider(stack, decider, handles, codeEnded)

  for (const { handle, result } of sessions) {
    expect(await result).toMatchObject({ status: 'ok' })
    await stack.hasEvents(handle, 1, (event) => activityTypeOf(event) === activityNames.snapshotSession)
    await stack.replays(handle)
  }
  await next.shutdown()
})

/** Activities of a session before its code: its plan, and its sandbox. */
const activitiesBeforeCode = 2

type HistoryEvent = Parameters<Parameters<SplitStack['hasEvents']>[2]>[0]

function isCompletion({ activityTaskCompletedEventAttributes }: HistoryEvent): boolean {
  return activityTaskCompletedEventAttributes != null
}

function activityTypeOf({ activityTaskScheduledEventAttributes }: HistoryEvent): string | null | undefined {
  return activityTaskScheduledEventAttributes?.activityType?.name
}

function several<Item>(start: () => Promise<Item>): Promise<readonly Item[]> {
  return Promise.all(Array.from({ length: runs }, start))
}

/** Queries each run while no workflow worker runs; the next one starts when this has happened to all of them. */
async function queryWithoutDecider(
  stack: SplitStack,
  decider: RunningWorker,
  handles: readonly WorkflowHandle[],
  happened: (handle: WorkflowHandle) => Promise<void>,
): Promise<RunningWorker> {
  await decider.shutdown()
  const answers = handles.map((handle) => queryRun(stack.client, handle, 'inspect'))
  for (const handle of handles) await happened(handle)
  const next = await stack.startDecider()
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ cells: 1 })
  return next
}
