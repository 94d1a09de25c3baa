import { setCurrentDetails, workflowInfo } from '@temporalio/workflow'
import type { RunIdentity } from '../common/call-identity.js'
import type { RunCounts, RunOptions } from '../common/runs.js'
import { addUsage, zeroUsage } from '../common/runs.js'
import type { ModelReply } from '../common/messages.js'
import type { RunConfig, ToolConfig } from '../common/run-config.js'
import { loadRunConfig } from './temporal/activities.js'
import { Semaphore } from './temporal/semaphore.js'
import type { StoredBytes } from './stored-bytes.js'

type MutableCounts = { -readonly [Key in keyof RunCounts]: RunCounts[Key] }

/** One run: what it was planned with and what it has used so far. */
export interface Run {
  readonly config: RunConfig
  readonly identity: RunIdentity
  readonly tools: ReadonlyMap<string, ToolConfig>
  readonly counts: MutableCounts
  /** Tool calls that count towards `callsPerRun`: of a session, those of the current execution. */
  readonly quota: { calls: number }
  /** By cells, calls and the journal. */
  readonly stored: StoredBytes
  /** One for each tool activity that may be under way. */
  readonly callSlots: Semaphore
}

/** What the next run of the chain must know of its own beginning. */
export interface RunState {
  readonly config: RunConfig
  readonly counts: RunCounts
  /** Absent in histories from before it was carried over. */
  readonly stored?: StoredBytes
}

/** @param state of the same run before it went on in this history */
export async function startRun(options: RunOptions, state?: RunState): Promise<Run> {
  const config = state?.config ?? (await loadRunConfig(options))
  const { namespace, workflowId, firstExecutionRunId } = workflowInfo()
  return {
    config,
    identity: { namespace, workflowId, firstExecutionRunId },
    tools: new Map(config.tools.map((tool) => [tool.name, tool])),
    counts: { ...(state?.counts ?? { turns: 0, cells: 0, toolCalls: 0, usage: zeroUsage, costUsd: 0 }) },
    quota: { calls: state?.counts.toolCalls ?? 0 },
    stored: { bytes: state?.stored?.bytes ?? 0 },
    callSlots: new Semaphore(config.limits.callsInFlight),
  }
}

/** Nothing more may be put into the value store: no cell and no call begins. */
export function isStorageExhausted({ stored, config }: Run): boolean {
  return stored.bytes >= config.limits.storedBytes
}

export function addReplyUsage(run: Run, { usage, costUsd }: ModelReply): void {
  const { counts } = run
  counts.usage = addUsage(counts.usage, usage)
  counts.costUsd = counts.costUsd === null || costUsd === null ? null : counts.costUsd + costUsd
}

/** Says where the run is, in the Temporal UI. Answered by a query: nothing of it enters the history. */
export function showProgress(run: Run, doing: string): void {
  const { turns, cells, toolCalls } = run.counts
  setCurrentDetails(
    `**${doing}**\n\nturn ${turns} of at most ${run.config.limits.turns} · cells ${cells} · tool calls ${toolCalls} (${run.callSlots.acquired} under way)`,
  )
}
