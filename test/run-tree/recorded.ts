import { readFileSync } from 'node:fs'
import { defaultDataConverter } from '@temporalio/common'
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js'
import { type HistoryEvent, RunTreeBuilder, type RunTree, type RunTreeOptions } from '../../src/client/history/index.js'

/** Histories of real runs; `record-histories.mjs` beside this file made them. */
export const recordedNames = [
  'answered',
  'program',
  'continued',
  'failed',
  'cancelled',
  'terminated',
  'rebuilt',
  'reset',
] as const

export type RecordedName = (typeof recordedNames)[number]

export function recordedEvents(name: RecordedName): readonly HistoryEvent[] {
  const json: unknown = JSON.parse(readFileSync(new URL(`histories/${name}.json`, import.meta.url), 'utf8'))
  return historyFromJSON(json).events ?? []
}

/** The tree of a recorded run, or of its first so many events. */
export async function recordedTree(name: RecordedName, count?: number): Promise<RunTree> {
  return treeOf(recordedEvents(name).slice(0, count))
}

export async function treeOf(events: Iterable<HistoryEvent>, options: RunTreeOptions = {}): Promise<RunTree> {
  const builder = new RunTreeBuilder(options)
  await builder.add(events)
  return builder.tree()
}

/** How many events there are up to the one that is looked for, that one included. */
export function upTo(events: readonly HistoryEvent[], is: (event: HistoryEvent) => boolean): number {
  const place = events.findIndex(is)
  if (place < 0) throw new Error('there is no such event in the recorded history')
  return place + 1
}

type Activity = { readonly name: string; readonly id?: string; readonly input: unknown } & (
  | { readonly result: unknown }
  | { readonly failure: object }
  | { readonly timedOut: object }
  | { readonly open: true }
)

/** Where a handmade history stands in a run that goes on in fresh ones. */
interface Link {
  readonly runId: string
  readonly continues?: string
  readonly continuedAs?: string
  readonly state?: unknown
  readonly memo?: Readonly<Record<string, unknown>>
}

/** Events of a run that nobody can record at will: written by hand, one activity after the other. */
export function handMade(
  type: string,
  input: unknown,
  activities: readonly Activity[],
  { runId, continues, continuedAs, state, memo = {} }: Link = { runId: '' },
): readonly HistoryEvent[] {
  const events: HistoryEvent[] = []
  const payload = (value: unknown) => defaultDataConverter.payloadConverter.toPayload(value)
  const payloads = (...values: readonly unknown[]) => ({ payloads: values.map(payload) })
  const add = (event: object): number => {
    const eventId = events.length + 1
    // Numbers stand where the wire has 64 bits.
    events.push({ ...event, eventId, eventTime: { seconds: 1_000 + eventId, nanos: 0 } } as unknown as HistoryEvent)
    return eventId
  }
  add({
    workflowExecutionStartedEventAttributes: {
      workflowType: { name: type },
      input: state === undefined ? payloads(input) : payloads(input, state),
      originalExecutionRunId: runId,
      continuedExecutionRunId: continues,
      memo: { fields: Object.fromEntries(Object.entries(memo).map(([name, value]) => [name, payload(value)])) },
    },
  })
  for (const activity of activities) {
    const { name, id = name } = activity
    const attributes = { activityId: id, activityType: { name }, input: payloads(activity.input) }
    const scheduledEventId = add({ activityTaskScheduledEventAttributes: attributes })
    if ('open' in activity) continue
    add({ activityTaskStartedEventAttributes: { scheduledEventId, attempt: 1 } })
    if ('result' in activity) {
      add({ activityTaskCompletedEventAttributes: { scheduledEventId, result: payloads(activity.result) } })
    } else if ('failure' in activity) {
      add({ activityTaskFailedEventAttributes: { scheduledEventId, failure: activity.failure } })
    } else {
      add({ activityTaskTimedOutEventAttributes: { scheduledEventId, failure: activity.timedOut } })
    }
  }
  if (continuedAs !== undefined) {
    add({ workflowExecutionContinuedAsNewEventAttributes: { newExecutionRunId: continuedAs } })
  }
  return events
}
