import { type ActivityRecord, completedRecord } from './activity-record.js'
import { parseActivityResult } from './activity-payloads.js'
import * as shapes from './payload-schemas.js'

interface FollowUpRecords {
  /** Time of the result of the activity itself, in milliseconds since the epoch. */
  readonly resultAt: number
  /** A record for each local call and each follow-up step, as for activities. */
  readonly records: readonly ActivityRecord[]
}

/** The session of the steps: its start, in milliseconds since the epoch, and the position of its cell. */
interface SessionContext {
  readonly startedAt: number
  readonly turn: number
  readonly cell: number
}

type Calls = ReadonlyMap<number, shapes.DescribedCall>

/** Returns the follow-up steps of a completed activity; undefined when there are none. */
export function followUpRecords(
  { input, scheduledAt }: Pick<ActivityRecord, 'input' | 'scheduledAt'>,
  result: unknown,
  completedAt: number,
  previewCharacters: number,
): FollowUpRecords | undefined {
  if ((input.type !== 'step' && input.type !== 'tool') || input.followUps === undefined) return undefined
  const { data } = (input.type === 'step' ? shapes.followedStep : shapes.followedCall).safeParse(result)
  const [first] = data?.followUps ?? []
  if (data === undefined || first === undefined) return undefined
  const { turn, cell, now } = input.followUps
  const context = { startedAt: scheduledAt - now, turn, cell }
  const ofTool = input.type === 'tool' ? [{ index: input.call.position.index, outcome: { status: 'ok' as const } }] : []
  let calls = callsOf(input.type === 'step' ? shapes.stepResult.safeParse(result).data : undefined)
  const records = data.followUps.flatMap((followUp, place) => {
    const { number, results = ofTool, result: stepResult } = followUp
    const next = data.followUps[place + 1]
    const ofCalls = localCallRecords(context, followUp, calls, previewCharacters)
    calls = callsOf(stepResult)
    if (stepResult === undefined) return ofCalls
    const input = { type: 'step', step: { number, input: { type: 'results', results } } } as const
    const endedAt = next ? context.startedAt + next.now - next.waited : completedAt
    const times = { from: context.startedAt + followUp.now, to: endedAt }
    return [
      ...ofCalls,
      completedRecord(input, times, { summary: `step ${number}`, result: { type: 'step', result: stepResult } }),
    ]
  })
  return { resultAt: context.startedAt + first.now - (input.type === 'step' ? first.waited : 0), records }
}

/** Returns the record of the first step of a session, which the activity that opened the session has executed. */
export function firstStepRecord({ input, end }: Pick<ActivityRecord, 'input' | 'end'>): ActivityRecord | undefined {
  if (input.type !== 'open' || input.firstStep === undefined || end?.type !== 'completed') return undefined
  const result = end.result.type === 'open' ? end.result.firstStep : undefined
  if (result === undefined) return undefined
  const ofStep = { summary: `step ${input.firstStep.number}`, result: { type: 'step', result } } as const
  // The history has no time between the opening and the step.
  const ranMs = 'usage' in result ? (result.usage?.runMs ?? 0) : 0
  return completedRecord({ type: 'step', step: input.firstStep }, { from: end.at - ranMs, to: end.at }, ofStep)
}

/** Returns the records of local calls. A local call lasts from the result of a step to the next step. */
function localCallRecords(
  { startedAt, turn, cell }: SessionContext,
  { now, waited, results = [] }: shapes.FollowUp,
  calls: Calls,
  previewCharacters: number,
): readonly ActivityRecord[] {
  return results.flatMap(({ index, outcome }) => {
    const call = calls.get(index)
    if (call === undefined) return []
    const { tool, arguments: args, summary } = call
    const position = { turn, cell, index }
    const input = { type: 'tool', call: { tool, caller: 'code_execution', position, arguments: args } } as const
    const times = { from: startedAt + now - waited, to: startedAt + now }
    const isOk = outcome.status === 'ok'
    const result = isOk ? parseActivityResult(input, outcome.value, previewCharacters) : undefined
    return completedRecord(input, times, { summary, ...(result && { result }) })
  })
}

function callsOf(result: shapes.StepResult | undefined): Calls {
  return new Map(result?.type === 'suspended' ? result.calls.map((call) => [call.index, call]) : [])
}
