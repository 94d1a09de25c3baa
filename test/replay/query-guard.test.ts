import { expect, it } from 'vitest'
import { queryRun } from '../../src/client/query-run.js'
import { installRuntime } from '../../src/worker/index.js'
import { activityRuns } from '../support/pending-activities.js'
import { SplitStack } from '../support/split-stack.js'
import { Happening, tool } from '../support/tools.js'

installRuntime('ERROR', () => undefined)

/** Without the guard, about three of four can't be replayed. */
const runs = 4

it('F31: a run replays that was queried without a workflow worker, while its sandbox was due to be parked', async () => {
  const release = new Happening<string>()
  const wait = tool('wait', () => release.happened, { timeout: '1h' })
  const stack = await SplitStack.start({ tools: [wait], timings: { park: '5s' } })
  const decider = await stack.startDecider()
  const handles = await Promise.all(Array.from({ length: runs }, () => stack.startProgram('print(await wait())')))
  for (const handle of handles) await activityRuns(handle, 'wait')
  await decider.shutdown()

  // Sent while no workflow task is pending; answered by a worker that starts after the timer of the parking has fired.
  const answers = handles.map((handle) => queryRun(stack.client, handle, 'inspect'))
  for (const handle of handles) await stack.hasEvent(handle, 'timerFiredEventAttributes')
  const next = await stack.startDecider()
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ cells: 1, toolCalls: 1 })

  release.happen('done')
  for (const handle of handles) {
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'done\n' } })
    await stack.replays(handle)
  }
  await next.shutdown()
})
