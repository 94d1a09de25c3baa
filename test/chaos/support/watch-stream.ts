import type { WorkflowHandle } from '@temporalio/client'
import { expect } from 'vitest'
import type { AgentResult } from '../../../src/common/runs/runs.js'
import type { StreamEvent } from '../../../src/stream/index.js'
import type { ProcessEnvironment } from '../../support/environment/test-environment.js'
import { readEvents, shownText } from '../../support/stream/shown-text.js'

/**
 * Reads the live stream of a run to its end. Expects its end, each event once, the answer of the run as the text of its
 * last turn unless events were lost with a worker, and the same events for a reader that continues in the middle.
 */
export async function watchStream(env: ProcessEnvironment, { workflowId }: WorkflowHandle): Promise<void> {
  const run = env.ptc.handle(workflowId)
  const events = await readEvents(run.stream())
  const { answer } = (await run.result()) as AgentResult
  expect(events.at(-1)).toMatchObject({ type: 'end', status: 'completed' })
  const offsets = events.map(({ offset }) => offset)
  expect(new Set(offsets).size).toBe(offsets.length)
  if (events.every(({ type }) => type !== 'gap')) expect(shownText(events)).toBe(answer)
  expect(shownCalls(events)).toEqual([...new Set(shownCalls(events))])
  const middle = Math.floor(events.length / 2)
  const from = offsets[middle]
  const rest = await readEvents(run.stream({ ...(from !== undefined && { from }) }))
  expect(rest).toEqual(events.slice(middle + 1))
}

/** The calls that a consumer shows as ended, after all resets. */
function shownCalls(events: readonly StreamEvent[]): readonly string[] {
  let shown: readonly { readonly unit: string; readonly call: string }[] = []
  for (const event of events) {
    if (event.type === 'reset') shown = shown.filter(({ unit }) => unit !== event.unit)
    else if (event.type === 'call.ends') shown = [...shown, event]
  }
  return shown.map(({ call }) => call)
}
