import { maxSessionExecutions } from '../../common/run/limits.js'
import { setCurrentDetails } from '@temporalio/workflow'
import type { BudgetItem } from '../../common/budget/budget.js'
import type { RunIdentity } from '../../common/calls/call-identity.js'
import type { HelperWorkflow } from '../../common/calls/deferred-calls.js'
import { type ContextUse, describeContextUse } from '../../common/agent/context-window.js'
import type { BackendChoice, RunConfig } from '../../common/run/run-config.js'
import { promptTokens, type RunCounts, type RunKind } from '../../common/run/runs.js'
import type { PlanStepResult } from '../../common/agent/task-modes.js'
import {
  answerCommand,
  approveCommand,
  budgetCommand,
  completeCommand,
  denyCommand,
} from '../../common/run/wait-commands.js'
import { formatCompactNumber, pluralize, toMarkdownCode, truncateEnd } from '../../common/text/text.js'

/** The current activity of a run. Times are milliseconds since the epoch. */
export type RunActivity =
  | { readonly type: 'model'; readonly turn: number }
  | { readonly type: 'direct_calls' }
  | { readonly type: 'compaction' }
  | { readonly type: 'cell'; readonly cell: number }
  | {
      readonly type: 'waiting'
      readonly cell: number
      /** When the next timer of the code is due; null without one. */
      readonly wakeAt: number | null
      readonly deadline: number
      readonly isParked: boolean
    }
  | { readonly type: 'idle'; readonly until: number }
  /** The work was not finished, and its calls are being compensated. */
  | { readonly type: 'compensating'; readonly done: number; readonly total: number }
  | { readonly type: 'paused'; readonly reason: string; readonly item: BudgetItem }
  | { readonly type: 'message' }

/** What a call waits for while it holds no slot of the run. */
export type CallWait =
  | { readonly for: 'slot_of_run' }
  | { readonly for: 'slot_of_tool'; readonly tool: string }
  | { readonly for: 'lock_of_tool'; readonly tool: string }
  | { readonly for: 'budget' }
  /** A decision, an answer, or another result from outside. Times are milliseconds since the epoch. */
  | { readonly for: 'approval' | 'answer' | 'result'; readonly since: number; readonly expiresAt: number }

interface OpenCall {
  /** A text without active Markdown. */
  readonly summary: string
  readonly since: number
  /** Undefined: an activity of the call is in progress. */
  readonly wait: CallWait | undefined
}

/** For the current details in the Temporal UI: what the run does, and the tool calls in progress. */
export class Progress {
  /** A text without active Markdown. */
  readonly about: string | undefined
  activity: RunActivity | undefined
  /** Undefined before the first turn of a model. */
  context: ContextUse | undefined
  since = 0
  /** The steps of a run in mode `plan`. Undefined before there is a plan. */
  plan: readonly PlanStepResult[] | undefined
  opening: { readonly backend: BackendChoice; readonly since: number } | undefined
  /** The calls in progress, in the order of their start. Key: the activity id. */
  readonly openCalls = new Map<string, OpenCall>()
  /** The workflows that make calls for the run. */
  readonly helpers = new Set<HelperWorkflow>()
  /** Workflow id of the run whose cell the session of this run executes. */
  servedRun: string | undefined

  /** @param about summary of the run, if the UI does not show it: Temporal drops the summary at continue-as-new */
  constructor(about?: string) {
    this.about = about === undefined ? undefined : toMarkdownCode(about)
  }
}

interface ShownRun {
  readonly kind: RunKind
  readonly identity: Pick<RunIdentity, 'workflowId'>
  readonly config: Pick<RunConfig, 'limits' | 'loweredLimits' | 'sessions' | 'mode' | 'isRedacted'>
  readonly counts: RunCounts
  readonly progress: Progress
}

/**
 * Sets the text about the current activity of the run in the Temporal UI. The UI reads it by a query; it does not enter
 * the history.
 */
export function showProgress(run: ShownRun, activity: RunActivity): void {
  const { progress } = run
  if (!isSame(progress.activity, activity)) progress.since = Date.now()
  progress.activity = activity
  render(run)
}

/** Shows a tool call until the returned function is called. */
export function showCall(run: ShownRun, id: string, summary: string, wait?: CallWait): () => void {
  const { openCalls } = run.progress
  const since = wait && 'since' in wait ? wait.since : Date.now()
  const call: OpenCall = { summary: toMarkdownCode(summary), since, wait }
  openCalls.set(id, call)
  renderIfListed(run)
  return () => {
    if (openCalls.get(id) !== call) return
    openCalls.delete(id)
    renderIfListed(run)
  }
}

/** Shows that a sandbox of this backend is being opened, until the returned function is called. */
export function showOpening(run: ShownRun, backend: BackendChoice): () => void {
  const { progress } = run
  const opening = { backend, since: Date.now() }
  progress.opening = opening
  render(run)
  return () => {
    if (progress.opening !== opening) return
    progress.opening = undefined
    render(run)
  }
}

/**
 * Renders unless more calls are in progress than the list shows, because many calls may start at once. The number of
 * unlisted calls may be out of date until the next activity.
 */
function renderIfListed(run: ShownRun): void {
  if (run.progress.openCalls.size <= maxListedCalls + 1) render(run)
}

function render(run: ShownRun): void {
  // The engine does not write to the details of a user's workflow.
  if (run.kind !== 'embedded') setCurrentDetails(describeProgress(run))
}

const maxListedCalls = 10

/** Returns the current details as Markdown. Markdown in the text of a model or a sandbox is escaped. */
export function describeProgress({ kind, identity, config, counts, progress }: ShownRun): string {
  const { about, activity, since, opening, openCalls, plan = [] } = progress
  if (!activity) return ''
  const { workflowId } = identity
  const calls = [...openCalls].slice(0, maxListedCalls)
  const hidden = openCalls.size - calls.length
  return [
    ...(about === undefined ? [] : [about]),
    `**${describeActivity(activity, openCalls.size)}** since ${formatTime(since)}`,
    ...(opening ? [describeOpening(opening)] : []),
    ...(activity.type === 'waiting' ? [describeWait(activity, isDeferred(openCalls))] : []),
    ...(activity.type === 'paused' ? [`Raise it: ${toMarkdownCode(budgetCommand(workflowId, activity.item))}`] : []),
    ...(calls.length === 0
      ? []
      : [
          [
            ...calls.map((call) => describeCall(workflowId, call)),
            ...(hidden > 0 ? [`- and ${pluralize(hidden, 'more call')}`] : []),
          ].join('\n'),
        ]),
    ...(plan.length === 0 ? [] : [describePlan(plan, config.isRedacted === true)]),
    describeCounts(kind, config, counts, progress.context),
  ].join('\n\n')
}

/** Opening takes a second, so the text is usually seen only when the run waits for a sandbox. */
function describeOpening({ backend, since }: NonNullable<Progress['opening']>): string {
  const sandbox = backend === 'auto' ? 'a sandbox' : `the sandbox ${toMarkdownCode(backend)}`
  return `Waits for a worker with ${sandbox} since ${formatTime(since)}.`
}

function describeCall(workflowId: string, [id, call]: readonly [string, OpenCall]): string {
  const { summary, since, wait } = call
  if (wait?.for === 'budget') return `- ${summary} waits for the budget since ${formatTime(since)}`
  if (wait?.for === 'slot_of_tool' || wait?.for === 'lock_of_tool') {
    const what = wait.for === 'slot_of_tool' ? 'a slot' : 'a lock'
    return `- ${summary} waits for ${what} of ${wait.tool} since ${formatTime(since)}`
  }
  if (!wait || wait.for === 'slot_of_run') return `- ${summary} since ${formatTime(since)}`
  const times = `since ${formatTime(since)}, until ${formatTime(wait.expiresAt)} at the latest`
  const commands = waitCommands[wait.for].map((commandFor) => toMarkdownCode(commandFor(workflowId, id)))
  return `- ${summary} waits for its ${wait.for} ${times}: ${commands.join(' or ')}`
}

const waitCommands = {
  approval: [approveCommand, denyCommand],
  answer: [answerCommand],
  result: [completeCommand],
} as const

function describePlan(steps: readonly PlanStepResult[], isRedacted: boolean): string {
  const lines = steps.map(({ id, status, task }, index) => {
    const text = isRedacted ? '' : `: ${toMarkdownCode(truncateEnd(task, maxTaskCharacters))}`
    return `${index + 1}. ${toMarkdownCode(id)} ${status.replace('_', ' ')}${text}`
  })
  return lines.join('\n')
}

/** Limits the size of the details. Temporal refuses details over 20 KB, and a plan may have 50 steps. */
const maxTaskCharacters = 100

function isDeferred(calls: Progress['openCalls']): boolean {
  return [...calls.values()].some(({ wait }) => wait !== undefined && 'expiresAt' in wait)
}

function describeActivity(activity: RunActivity, openCalls: number): string {
  switch (activity.type) {
    case 'model':
      return `Waits for the model (turn ${activity.turn})`
    case 'compaction':
      return 'Compacts the messages'
    case 'direct_calls':
      return `Waits for ${pluralize(openCalls, 'tool call')} of the model`
    case 'cell':
      return `Runs code (cell ${activity.cell})`
    case 'waiting': {
      const parts = [
        ...(openCalls > 0 ? [pluralize(openCalls, 'tool call')] : []),
        ...(activity.wakeAt === null ? [] : ['a timer']),
      ]
      return `Waits for ${parts.join(' or ') || 'results'} (cell ${activity.cell})`
    }
    case 'idle':
      return 'Waits for code'
    case 'paused':
      return `Paused: ${activity.reason}`
    case 'compensating':
      return `Compensates call ${activity.done + 1} of ${activity.total}`
    case 'message':
      return 'Waits for a message'
  }
}

function describeWait(
  { wakeAt, deadline, isParked }: Extract<RunActivity, { type: 'waiting' }>,
  isResultDeferred: boolean,
): string {
  return [
    isParked ? 'The sandbox is released while the code waits.' : 'The sandbox is kept.',
    ...(wakeAt === null ? [] : [`The timer of the code is due at ${formatTime(wakeAt)}.`]),
    isResultDeferred
      ? 'Time in which a call waits for its approval or its result does not count towards the time limit of the cell.'
      : `The cell ends at ${formatTime(deadline)} at the latest.`,
  ].join(' ')
}

/** The scope of `limits.callsPerRun`, for each kind of run. */
const callScopes = {
  agent: '',
  conversation: ' a message',
  program: '',
  session: ' a cell',
  call: '',
  embedded: '',
} as const

function describeCounts(
  kind: ShownRun['kind'],
  { limits, loweredLimits, mode }: ShownRun['config'],
  counts: RunCounts,
  context: ContextUse | undefined,
): string {
  const { turns, cells, toolCalls, usage, costUsd } = counts
  const isAgent = kind === 'agent' || kind === 'conversation'
  return [
    ...(kind === 'agent' && mode !== 'plan' ? [`turn ${turns} of at most ${limits.turns}`] : []),
    ...(mode === 'plan' ? [`turns ${turns}, at most ${limits.turns} a step`] : []),
    ...(kind === 'conversation' ? [`turns ${turns}, at most ${limits.turns} a message`] : []),
    kind === 'session'
      ? `cells ${cells} of at most ${loweredLimits?.sessionExecutions ?? maxSessionExecutions}`
      : `cells ${cells}`,
    `tool calls ${toolCalls} of at most ${limits.callsPerRun}${callScopes[kind]}`,
    ...(isAgent
      ? [
          `tokens ${formatCompactNumber(promptTokens(usage))} in, ${formatCompactNumber(usage.outputTokens)} out`,
          costUsd === null ? 'cost unknown' : `cost $${costUsd.toFixed(4)}`,
          ...(context ? [describeContextUse(context)] : []),
        ]
      : []),
  ].join(' · ')
}

function formatTime(milliseconds: number): string {
  return Number.isFinite(milliseconds)
    ? `${new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ')} UTC`
    : 'any time'
}

/** Returns whether the run is still in the same activity. The displayed time is the start of the activity. */
function isSame(before: RunActivity | undefined, activity: RunActivity): boolean {
  if (before?.type !== activity.type) return false
  const numberOf = (each: RunActivity) => ('cell' in each ? each.cell : 'turn' in each ? each.turn : 0)
  return numberOf(before) === numberOf(activity)
}
