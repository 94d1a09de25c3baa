import type { Client, WorkflowHandle } from '@temporalio/client'
import { type DataConverter, defaultPayloadConverter } from '@temporalio/common'
import type { temporal } from '@temporalio/proto'
import { Worker } from '@temporalio/worker'
import { isolateTimeout, workflowBundle } from '../../../src/worker/plugin/workflow-bundle.js'
import { recordHistoriesIfRequested } from './record-history.js'

/** The events of one execution. */
export interface History {
  readonly events: temporal.api.history.v1.IHistoryEvent[]
}

interface Events {
  readonly events: readonly temporal.api.history.v1.IHistoryEvent[]
}

/** One activity of a history, with the fields that the Temporal UI shows. */
export interface ScheduledActivity {
  readonly type: string
  readonly id: string
  readonly summary: string | undefined
  /** Id of the event that scheduled the activity. */
  readonly eventId: string
}

/** Bytes of a history that always fit in one page: the server sends no page of over 4 MiB. */
const onePageBytes = 2 << 20

/**
 * The events of one execution of a workflow; default: of the latest. Requests small pages of a large history: the
 * client's own fetchHistory waits without end for a page that the server can't send.
 */
export async function readHistory(client: Client, workflowId: string, runId?: string): Promise<History> {
  const { historySize = 0 } = await client.workflow.getHandle(workflowId, runId).describe()
  const events: temporal.api.history.v1.IHistoryEvent[] = []
  let nextPageToken: Uint8Array | undefined
  do {
    const page = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId, ...(runId === undefined ? {} : { runId }) },
      maximumPageSize: historySize < onePageBytes ? 1_000 : 4,
      ...(nextPageToken && { nextPageToken }),
    })
    events.push(...(page.history?.events ?? []))
    nextPageToken = page.nextPageToken
  } while (nextPageToken?.length)
  return { events }
}

/** The histories of a continue-as-new chain, in order. */
export async function executionHistories(
  client: Client,
  { workflowId }: Pick<WorkflowHandle, 'workflowId'>,
): Promise<History[]> {
  const chain: History[] = []
  let runId: string | null | undefined
  do {
    const history = await readHistory(client, workflowId, runId ?? undefined)
    chain.unshift(history)
    runId = history.events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId
  } while (runId)
  return chain
}

/** Fails when an execution of a continue-as-new chain does not replay. Returns the histories, in order. */
export async function expectReplays(
  client: Client,
  handle: Pick<WorkflowHandle, 'workflowId'>,
): Promise<readonly History[]> {
  const chain = await executionHistories(client, handle)
  const { loadedDataConverter: dataConverter } = client.options
  for (const history of chain) await expectHistoryReplays(history, handle.workflowId, dataConverter)
  recordHistoriesIfRequested(chain)
  return chain
}

/**
 * Fails when a history does not replay on the current workflow code.
 *
 * @param kind the bundle of the code
 */
export async function expectHistoryReplays(
  history: unknown,
  workflowId: string,
  dataConverter: DataConverter = {},
  kind: 'plain' | 'traced' = 'plain',
): Promise<void> {
  await Worker.runReplayHistory(
    { workflowBundle: workflowBundle(kind), dataConverter, ...isolateTimeout },
    history,
    workflowId,
  )
}

/** The errors of the histories that do not replay on the current workflow code. */
export async function replayFailures(
  client: Client,
  histories: readonly { readonly workflowId: string; readonly history: History }[],
): Promise<readonly string[]> {
  const { loadedDataConverter: dataConverter } = client.options
  const options = { workflowBundle: workflowBundle(), dataConverter, ...isolateTimeout }
  const reasons: string[] = []
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
    if (error) reasons.push(`${workflowId}: ${nondeterminism.exec(error.message)?.[0] ?? error.message}`)
  }
  return reasons
}

/** The part of a message that says why a history does not replay. */
export const nondeterminism = /\[TMPRL1100\][^"]*/

/** The child workflows of a continue-as-new chain, in the order of their start. */
export function childWorkflowIds(chain: readonly History[]): readonly string[] {
  return chain
    .flatMap(({ events }) => events)
    .flatMap(({ startChildWorkflowExecutionInitiatedEventAttributes: child }) => child?.workflowId ?? [])
}

/** The activities of one execution in the order they were scheduled. */
export function scheduledActivities({ events }: Events): ScheduledActivity[] {
  return events.flatMap(({ eventId, activityTaskScheduledEventAttributes: activity, userMetadata }) => {
    if (!activity) return []
    return {
      type: activity.activityType?.name ?? '',
      id: activity.activityId ?? '',
      summary: summaryOf(userMetadata),
      eventId: String(eventId),
    }
  })
}

/** The scheduled activities of one type. */
export function scheduledActivitiesOfType(history: Events, type: string): ScheduledActivity[] {
  return scheduledActivities(history).filter((activity) => activity.type === type)
}

/** One timer of a history. */
export interface StartedTimer {
  readonly summary: string | undefined
  readonly seconds: number
  readonly hasFired: boolean
}

/** The timers of one execution in the order of their start. */
export function startedTimers({ events }: Events): StartedTimer[] {
  const fired = new Set(events.map(({ timerFiredEventAttributes: timer }) => timer?.timerId))
  return events.flatMap(({ timerStartedEventAttributes: timer, userMetadata }) => {
    if (!timer) return []
    const { seconds, nanos } = timer.startToFireTimeout ?? {}
    return {
      summary: summaryOf(userMetadata),
      seconds: Number(seconds ?? 0) + (nanos ?? 0) / 1e9,
      hasFired: fired.has(timer.timerId),
    }
  })
}

export function isTimerWithoutSummary({
  timerStartedEventAttributes: timer,
  userMetadata,
}: temporal.api.history.v1.IHistoryEvent): boolean {
  return Boolean(timer) && !userMetadata?.summary
}

function summaryOf(userMetadata: temporal.api.sdk.v1.IUserMetadata | null | undefined): string | undefined {
  const summary = userMetadata?.summary
  return summary ? defaultPayloadConverter.fromPayload<string>(summary) : undefined
}

/** Results of the activities of one execution as JSON texts, in the order of their completion. */
export function activityResultTexts({ events }: Events): readonly string[] {
  const payloads = events.flatMap((event) => event.activityTaskCompletedEventAttributes?.result?.payloads ?? [])
  return payloads.map(({ data }) => Buffer.from(data ?? []).toString())
}

/** Number of completed activities of a type in a continue-as-new chain. */
export function completedActivityCount(chain: readonly History[], type: string): number {
  return chain
    .map(({ events }) => {
      const scheduled = new Set(scheduledActivitiesOfType({ events }, type).map(({ eventId }) => eventId))
      return events.filter(
        ({ activityTaskCompletedEventAttributes: at }) => at && scheduled.has(String(at.scheduledEventId)),
      ).length
    })
    .reduce((sum, count) => sum + count, 0)
}
