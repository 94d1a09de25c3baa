import { describeSpent } from '../../../common/budget/budget.js'
import { callActivityId } from '../../../common/names.js'
import {
  answerCommand,
  approveCommand,
  budgetCommand,
  completeCommand,
  denyCommand,
} from '../../../common/run/wait-commands.js'
import type { WaitOfRun } from '../../../client/calls/open-waits.js'
import type { CallWait, RunTree, RunWait } from '../../../client/run-tree/index.js'
import type { Unserved } from '../../../client/workers/unserved.js'
import { describeUnserved } from '../../../client/workers/unserved-queue.js'
import { pluralize } from '../../../common/text/text.js'
import { type Line, part } from './line.js'
import { oneLine } from './sanitize.js'
import { textBlock } from './text-block.js'

/** The part of a run that a list of waits needs. */
export type WaitingRun = Pick<RunTree, 'workflowId' | 'waitsFor'>

/** Describes what a run waits for. */
export function describeWait(wait: RunWait): string {
  if (wait.type === 'budget') return `paused: ${describeSpent(wait)}`
  return `${oneLine(wait.summary)} waits for ${waitNouns[wait.type]}`
}

/** Identifies a wait among those of a run. */
export function waitKey(wait: RunWait): string {
  return wait.type === 'budget' ? `budget ${wait.since}` : wait.token
}

/** `ada of acme`; empty when the context of the run has neither a user nor a tenant. */
export function formatRequester({ user, tenant }: NonNullable<RunTree['requester']> = {}): string {
  return oneLine([user, tenant].filter((each) => each !== undefined).join(' of '))
}

/** Nouns such as `an answer`. */
export const waitNouns: Readonly<Record<CallWait['type'], string>> = {
  approval: 'approval',
  answer: 'an answer',
  result: 'its result',
}

/** The command that continues the run, or the commands. */
export function waitCommand({ workflowId: run, waitsFor }: WaitingRun, wait: RunWait): string {
  if (wait.type === 'budget') return budgetCommand(run, wait.item)
  // Calls of two workflows may have the same position.
  const { workflowId = run } = wait
  const isApproval = wait.type === 'approval'
  const similar = waitsFor.filter((each) => each.type !== 'budget' && (each.type === 'approval') === isApproval)
  const call = similar.length > 1 ? callActivityId(wait.position) : undefined
  if (isApproval) return `${approveCommand(workflowId, call)}, or ${denyCommand(workflowId, call)}`
  return wait.type === 'answer' ? answerCommand(workflowId, call) : completeCommand(workflowId, call)
}

const maxShownWaits = 8

/**
 * What a run waits for, since when, and the commands that continue it.
 *
 * @param formatSince such as `since 12:00`
 */
export function waitLines(run: WaitingRun, formatSince: (since: number) => string, columns: number): readonly Line[] {
  const { waitsFor } = run
  const shown = waitsFor.length <= maxShownWaits + 1 ? waitsFor : waitsFor.slice(0, maxShownWaits)
  const more = pluralize(waitsFor.length - shown.length, 'more wait')
  return [
    ...shown.flatMap((wait) => waitLine(run, wait, formatSince(wait.since), columns)),
    ...(shown.length < waitsFor.length ? [[part(`and ${more}: ptc approvals`, 'yellow')]] : []),
  ]
}

/** One line, or more on a narrow terminal: a command is never cut. */
export function waitLine(run: WaitingRun, wait: RunWait, since: string, columns: number): readonly Line[] {
  return textBlock(describeWaitSince(run, wait, since), { columns, style: 'yellow', limit: undefined, prose: true })
}

function describeWaitSince(run: WaitingRun, wait: RunWait, since: string): string {
  return `${describeWait(wait)}, ${since}: ${waitCommand(run, wait)}`
}

/**
 * What a conversation waits for, with the commands that continue it: each wait once.
 *
 * @param shown keys of the waits that have had their lines; this function adds to it
 */
export function newWaitLines(waits: readonly WaitOfRun[], shown: Set<string>): readonly string[] {
  const waitsFor = waits.map(({ wait }) => wait)
  return waits.flatMap(({ run: { workflowId }, wait }) => {
    if (shown.has(waitKey(wait))) return []
    shown.add(waitKey(wait))
    return [describeWaitSince({ workflowId, waitsFor }, wait, sinceTime(wait.since))]
  })
}

/** Text such as `since 2026-01-01 12:00 UTC`. */
export function sinceTime(at: number): string {
  return `since ${formatTime(at)}`
}

/** Text such as `2026-01-01 12:00 UTC`. */
export function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** The text of {@link describeUnserved}, wrapped and untruncated. */
export function unservedLines(unserved: Unserved, now: number, columns: number): readonly Line[] {
  return textBlock(describeUnserved(unserved, now), { columns, style: 'yellow', limit: undefined, prose: true })
}
