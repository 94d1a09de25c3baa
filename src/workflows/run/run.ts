import { workflowInfo } from '@temporalio/workflow'
import type { RunIdentity } from '../../common/calls/call-identity.js'
import { memoKeys } from '../../common/names.js'
import type { RunConfigInput, RunCounts } from '../../common/runs/runs.js'
import { addUsage, zeroCounts } from '../../common/runs/runs.js'
import { hostedBackend } from '../../common/runs/hosted-code.js'
import type { ModelReply } from '../../common/runs/messages.js'
import type { RunConfig } from '../../common/runs/run-config.js'
import { sharesSandbox, type ToolConfig } from '../../common/runs/tool-config.js'
import type { CompensationsState } from '../../common/calls/compensation.js'
import type { ApprovalsState } from '../../common/calls/approvals.js'
import type { DeferredCallsState } from '../../common/calls/deferred-calls.js'
import type { ToolSlotsState } from '../../common/calls/tool-slots.js'
import { RunBudget, type RunBudgetState } from './budget.js'
import { handleCompletions } from '../calls/complete-call.js'
import { Approvals } from '../calls/approvals.js'
import { DeferredCalls } from '../calls/deferred-calls.js'
import { handleSlotAnswers, ToolSlots } from '../calls/tool-slots.js'
import { Compensations } from '../calls/compensation/compensations.js'
import { Progress } from './progress.js'
import { loadRunConfig } from '../temporal/activities.js'
import { publishStart } from './search-attributes.js'
import { rejection } from '../temporal/rejection.js'
import { Semaphore } from '../temporal/semaphore.js'
import { SandboxGuests } from '../shared-session/sandbox-guests.js'
import type { StoredBytes } from './stored-bytes.js'
import { handleUsageReports } from '../calls/subagent/usage-report.js'

type MutableCounts = { -readonly [Key in keyof RunCounts]: RunCounts[Key] }

/** One run: its recorded configuration, and its usage so far. */
export interface Run {
  /** The recorded configuration. The model changes when a fallback has answered. */
  config: RunConfig
  readonly identity: RunIdentity
  readonly tools: ReadonlyMap<string, ToolConfig>
  readonly counts: MutableCounts
  /** Tool calls that count towards `callsPerRun`. In a named session, only calls of the current execution count. */
  readonly quota: { calls: number }
  /** Bytes that cells, calls and the journal have put into the value store. */
  readonly stored: StoredBytes
  /** One slot for each tool activity that may be in progress. */
  readonly callSlots: Semaphore
  /** One slot for each remote call with large arguments or a large result. */
  readonly largeCalls: Semaphore
  /** The calls that wait for a later result or approval. */
  readonly deferredCalls: DeferredCalls
  /** The calls that a person has approved. */
  readonly approvals: Approvals
  /** The slots of tools with a concurrency limit. */
  readonly toolSlots: ToolSlots
  /** The calls that are compensated if the work is not finished. */
  readonly compensations: Compensations
  /**
   * `embedded`: the run is in a workflow of a user, so the engine does not write to its details and search attributes.
   */
  readonly kind: 'agent' | 'conversation' | 'program' | 'session' | 'embedded'
  readonly progress: Progress
  readonly budget: RunBudget
  /**
   * The sub-agents that use the session of the run. Undefined: no sub-agent may, or the run does not have its own
   * session.
   */
  readonly guests?: SandboxGuests | undefined
}

/** The state of a run for the next execution of the continue-as-new chain. */
export interface RunState {
  readonly config: RunConfig
  readonly counts: RunCounts
  readonly stored: StoredBytes
  /** Undefined: the run had no deferred call. */
  readonly deferredCalls?: DeferredCallsState
  /** Undefined: no call was approved. */
  readonly approvals?: ApprovalsState
  /** Undefined: no call had a slot of a tool, and none had requested one. */
  readonly toolSlots?: ToolSlotsState
  /** Undefined: there was nothing to compensate. */
  readonly compensations?: CompensationsState
  /** Undefined: the run has no budget. */
  readonly budget?: RunBudgetState
}

export interface StartedRun {
  readonly kind: 'agent' | 'conversation' | 'program' | 'session'
  readonly options: RunConfigInput
  /** The state of the same run in the execution before this one. */
  readonly state?: RunState | undefined
  /** Name of a named session. */
  readonly session?: string
  /** For a sub-agent: the idempotency key of the call that started it. */
  readonly callKey?: string | undefined
}

export async function startRun({ kind, options, state, session, callKey }: StartedRun): Promise<Run> {
  const config = state?.config ?? (await loadRunConfig(options))
  if (kind === 'program' || kind === 'session') requireSandbox(config)
  const { workflowId, firstExecutionRunId } = workflowInfo()
  const counts = state?.counts ?? zeroCounts
  const ofCall = callKey !== undefined && { callKey }
  const identity = { namespace: namespaceOf(config), workflowId, firstExecutionRunId, ...ofCall }
  const stored = { bytes: state?.stored.bytes ?? 0 }
  const run = createRun({ config, identity, counts, stored, kind }, state)
  handleCompletions(() => [run.deferredCalls])
  handleSlotAnswers(() => [run.toolSlots])
  handleUsageReports(run)
  // The next execution of a chain inherits the search attributes of the previous one.
  if (!state) publishStart(run, session)
  return run
}

/** True when Anthropic executes the code of the run. */
export function isHosted({ backend }: Pick<RunConfig, 'backend'>): boolean {
  return backend === hostedBackend
}

/** @throws ApplicationFailure RUN_INPUT_INVALID when the run has no sandbox for code that is not written by a model */
export function requireSandbox(config: Pick<RunConfig, 'backend'>): void {
  if (isHosted(config))
    throw rejection(
      'RUN_INPUT_INVALID',
      `the sandbox ${hostedBackend} only executes the code of agents: choose another`,
    )
}

/** Returns the state of a run for the next execution. Called when no call is in progress. */
export function runState(run: Run): RunState {
  const { config, counts, stored, approvals, budget } = run
  const deferred = run.deferredCalls.state
  const slots = run.toolSlots.state
  const compensations = run.compensations.state
  return {
    config,
    counts,
    stored,
    ...(deferred && { deferredCalls: deferred }),
    ...(approvals.state && { approvals: approvals.state }),
    ...(slots && { toolSlots: slots }),
    ...(compensations && { compensations }),
    ...(budget.state && { budget: budget.state }),
  }
}

/**
 * Starts a run inside a workflow of a user.
 *
 * @param ordinal number of the run in the workflow, from 1; part of the identity of the run
 */
export async function startEmbeddedRun(options: RunConfigInput, ordinal: number): Promise<Run> {
  const config = await loadRunConfig(options)
  // An execution that continues this one as new opens other sessions, so the identity has the run id. A reset keeps
  // this id.
  const { workflowId, originalExecutionRunId } = workflowInfo()
  const identity = {
    namespace: namespaceOf(config),
    workflowId,
    firstExecutionRunId: `${originalExecutionRunId}/${ordinal}`,
  }
  const counts = { ...zeroCounts, turns: ordinal }
  return createRun({ config, identity, counts, stored: { bytes: 0 }, kind: 'embedded' })
}

function namespaceOf({ namespace }: RunConfig): string {
  return namespace ?? workflowInfo().namespace
}

/** Each large call may put 256 KiB into a workflow task, and the completion of a task may have at most 4 MiB. */
const maxLargeCalls = 8

function createRun(
  parts: Pick<Run, 'config' | 'identity' | 'stored' | 'kind'> & { counts: RunCounts },
  state?: Pick<RunState, 'deferredCalls' | 'approvals' | 'toolSlots' | 'compensations' | 'budget'>,
): Run {
  const { config, stored } = parts
  const counts = { ...parts.counts }
  const callSlots = new Semaphore(config.limits.callsInFlight)
  return {
    ...parts,
    tools: new Map(config.tools.map((tool) => [tool.name, tool])),
    counts,
    quota: { calls: counts.toolCalls },
    callSlots,
    largeCalls: new Semaphore(maxLargeCalls),
    deferredCalls: new DeferredCalls({ config, stored, callSlots }, state?.deferredCalls),
    approvals: new Approvals(state?.approvals),
    toolSlots: new ToolSlots(config.timeouts, state?.toolSlots),
    compensations: new Compensations(state?.compensations),
    progress: new Progress(lostSummary()),
    budget: new RunBudget(counts, config.budget, state?.budget),
    guests: config.tools.some(sharesSandbox) && !config.sessionOwner ? new SandboxGuests() : undefined,
  }
}

/** Returns whether the run has used up its part of the value store. Then no cell and no call starts. */
export function isStorageExhausted({ stored, config }: Run): boolean {
  return stored.bytes >= config.limits.storedBytes
}

/** Adds the tokens and the cost of a model reply. */
export function addReplyUsage(run: Run, { usage, costUsd }: Pick<ModelReply, 'usage' | 'costUsd'>): void {
  const { counts } = run
  counts.usage = addUsage(counts.usage, usage)
  counts.costUsd = counts.costUsd === null || costUsd === null ? null : counts.costUsd + costUsd
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
