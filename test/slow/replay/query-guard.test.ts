import type { WorkflowHandle } from '@temporalio/client'
import { expect, it } from 'vitest'
import { activityNames } from '../../../src/common/names.js'
import { queryRun } from '../../../src/client/temporal/query-run.js'
import type { RunningWorker } from '../../../src/worker/index.js'
import { Deferred, tool } from '../../support/tools.js'
import { expectReplays } from '../../support/environment/histories.js'
import { waitForActivity, waitForEvents, type HistoryEvent } from '../../support/environment/waits.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { TestSession } from '../../support/environment/test-session.js'

// Each test waits for an event that happens while no workflow worker runs and a query waits for one. Without the guard,
// the run then uses the clock and history of an earlier workflow task, and most of these histories do not replay.
const runs = 4

/** The workers that a test does not stop. It starts and stops the workers for workflows. */
const activityRoles = { roles: ['tools', 'sandbox'] } as const

it('F31: a run replays after a query without a workflow worker, while its session was due to be parked', async () => {
  const release = new Deferred<string>()
  const wait = tool('wait', () => release.promise, { timeout: '1h' })
  const env = await TestEnvironment.start({ initialWorkers: [activityRoles], tools: [wait], timeouts: { park: '5s' } })
  const decider = await env.workers.start({ roles: ['workflow'] })
  const handles = await startSeveral(() => env.startProgram('print(await wait())'))
  for (const handle of handles) await waitForActivity(handle, 'wait')

  const timerFired = (handle: WorkflowHandle) =>
    waitForEvents(handle, 1, ({ timerFiredEventAttributes }) => timerFiredEventAttributes != null)
  const next = await queryWithoutWorkflowWorker(env, decider, handles, timerFired)

  release.resolve('done')
  for (const handle of handles) {
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'done\n' } })
    await expectReplays(env.client, handle)
  }
  await next.shutdown()
})

it('F31: a session replays after a query without a workflow worker, while a snapshot became due', async () => {
  const env = await TestEnvironment.start({ initialWorkers: [activityRoles], snapshots: { time: '5s' } })
  const decider = await env.workers.start({ roles: ['workflow'] })
  const sessions = await startSeveral(() => startSession(env, 'import time; time.sleep(8)'))
  const handles = sessions.map(({ handle }) => handle)
  for (const handle of handles) await waitForActivity(handle, activityNames.executeStep)

  const codeEnded = (handle: WorkflowHandle) => waitForEvents(handle, activitiesBeforeCode + 1, isCompletion)
  const next = await queryWithoutWorkflowWorker(env, decider, handles, codeEnded)

  for (const { handle, result } of sessions) {
    expect(await result).toMatchObject({ status: 'ok' })
    await waitForEvents(handle, 1, (event) => activityTypeOf(event) === activityNames.snapshotSession)
    await expectReplays(env.client, handle)
  }
  await next.shutdown()
})

/** Number of activities of a session before its code: loading the configuration, and opening the sandbox. */
const activitiesBeforeCode = 2

function isCompletion({ activityTaskCompletedEventAttributes }: HistoryEvent): boolean {
  return activityTaskCompletedEventAttributes != null
}

function activityTypeOf({ activityTaskScheduledEventAttributes }: HistoryEvent): string | null | undefined {
  return activityTaskScheduledEventAttributes?.activityType?.name
}

/** Executes code on a new session; settles when its workflow has started. */
async function startSession(env: TestEnvironment, source: string) {
  const session = TestSession.create(env)
  const { handle } = session
  const result = session.execute(source).then(({ outcome }) => outcome)
  result.catch(() => undefined) // the test may have failed before it awaits this
  const hasStarted = async () =>
    handle.describe().then(
      () => true,
      () => false,
    )
  await expect.poll(hasStarted).toBe(true)
  return { handle, result }
}

function startSeveral<Item>(start: () => Promise<Item>): Promise<readonly Item[]> {
  return Promise.all(Array.from({ length: runs }, start))
}

/** Queries each run while no workflow worker runs. The next worker starts when all of the runs have been queried. */
async function queryWithoutWorkflowWorker(
  env: TestEnvironment,
  workflowWorker: RunningWorker,
  handles: readonly WorkflowHandle[],
  waitForEvent: (handle: WorkflowHandle) => Promise<void>,
): Promise<RunningWorker> {
  await workflowWorker.shutdown()
  const answers = handles.map((handle) => queryRun(env.client, handle, 'inspect'))
  for (const handle of handles) await waitForEvent(handle)
  const next = await env.workers.start({ roles: ['workflow'] })
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ cells: 1 })
  return next
}
