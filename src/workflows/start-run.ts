/*
 * The start of a run: its configuration, its calls, and the messages that it handles. The only file that knows every
 * part of a run.
 */

import { workflowInfo } from '@temporalio/workflow'
import { defined } from '../common/defined.js'
import { memoKeys } from '../common/names.js'
import type { RunConfig } from '../common/run/run-config.js'
import { type RunConfigInput, type RunKind, zeroCounts } from '../common/run/runs.js'
import { handleCallMessages } from './calls/messages.js'
import { RunCalls, type RunCallsState } from './calls/run-calls.js'
import { handleFileMessages } from './files/file-messages.js'
import { handleUsageReports } from './calls/subagent/usage-report.js'
import { Run, type RunDataState } from './run/run.js'
import { publishStart } from './run/search-attributes.js'
import { loadRunConfig } from './temporal/activities.js'

export interface RunState extends RunDataState {
  readonly calls: RunCallsState
}

interface StartedRun {
  readonly kind: Exclude<RunKind, 'embedded'>
  /** Not used with a state, which has the recorded configuration. */
  readonly options?: RunConfigInput
  readonly state?: RunState | undefined
  readonly session?: string
  /** For a sub-agent: the idempotency key of the call that started it. */
  readonly callKey?: string | undefined
}

export function startRun(started: StartedRun): Promise<RunCalls> {
  const starting = start(started)
  handleFileMessages(starting)
  return starting
}

async function start({ kind, options = {}, state, session, callKey }: StartedRun): Promise<RunCalls> {
  const data = state ?? { config: await loadRunConfig(options) } // invariant 2 of `index.ts`
  const { workflowId, firstExecutionRunId } = workflowInfo()
  const namespace = namespaceOf(data.config)
  const identity = { namespace, workflowId, firstExecutionRunId, ...defined({ callKey }) }
  const run = new Run(kind, identity, data, lostSummary())
  if (kind === 'program' || kind === 'session') run.requireSandbox()
  const calls = new RunCalls(run, state?.calls)
  handleCallMessages(() => [calls])
  handleUsageReports(run)
  // The next execution of a chain inherits the search attributes of the previous one.
  if (!state) publishStart(run, session)
  return calls
}

/** Returns the state of a run for the next execution. Called when no call is in progress. */
export function runState(calls: RunCalls): RunState {
  return { ...calls.run.state, calls: calls.state }
}

/** Counts the runs that this workflow of a user has opened. The number is part of the identity of the next run. */
let opened = 0

/** The handlers of this workflow look for a completed call, and for a call that got a slot, in these runs. */
const openRuns = new Set<RunCalls>() // invariant 1 of `blocks/index.ts`

/**
 * Opens a run inside a workflow of a user. The run has its own identity.
 *
 * @throws ActivityFailure when the configuration can't be read
 */
export async function openEmbeddedRun(
  options: RunConfigInput,
  changeLimits?: (limits: RunConfig['limits']) => RunConfig['limits'],
): Promise<RunCalls> {
  opened += 1
  const ordinal = opened
  const recorded = await loadRunConfig(options)
  const config = changeLimits ? { ...recorded, limits: changeLimits(recorded.limits) } : recorded
  // An execution that continues this one as new opens other sessions, so the identity has the run id. A reset keeps
  // this id.
  const { workflowId, originalExecutionRunId } = workflowInfo()
  const firstExecutionRunId = `${originalExecutionRunId}/${ordinal}` // invariant 2 of `blocks/index.ts`
  const identity = { namespace: namespaceOf(config), workflowId, firstExecutionRunId }
  const calls = new RunCalls(new Run('embedded', identity, { config, counts: { ...zeroCounts, turns: ordinal } }))
  openRuns.add(calls)
  handleCallMessages(() => openRuns)
  return calls
}

export function closeEmbeddedRun(calls: RunCalls): void {
  openRuns.delete(calls)
}

function namespaceOf({ namespace }: RunConfig): string {
  return namespace ?? workflowInfo().namespace
}

/**
 * Returns the summary from the memo, for a run that continued as new: Temporal keeps the memo, and drops the summary of
 * the start.
 */
function lostSummary(): string | undefined {
  const { continuedFromExecutionRunId, memo } = workflowInfo()
  const summary: unknown = memo?.[memoKeys.summary]
  return continuedFromExecutionRunId !== undefined && typeof summary === 'string' ? summary : undefined
}
