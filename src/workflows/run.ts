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

/** One run: its recorded configuration, and what it has used so far. */
export interface Run {
  readonly config: RunConfig
  readonly identity: RunIdentity
  readonly tools: ReadonlyMap<string, ToolConfig>
  readonly counts: MutableCounts
  /** Tool calls that count towards `callsPerRun`. In a named session, those of the current execution. */
  readonly quota: { calls: number }
  /** Bytes that cells, calls and the journal have put into the value store. */
  readonly stored: StoredBytes
  /** One slot for each tool activity that may be in progress. */
  readonly callSlots: Semaphore
  /** One slot for each remote call whose arguments or result are large. */
  readonly largeCalls: Semaphore
  /** False in a workflow of a user, whose details are the user's. */
  readonly showsProgress: boolean
}

/** The state of a run for the next execution of the continue-as-new chain. */
export interface RunState {
  readonly config: RunConfig
  readonly counts: RunCounts
  readonly stored: StoredBytes
}

/** @param state of the same run in the execution before this one */
export async function startRun(options: RunOptions, state?: RunState): Promise<Run> {
  const config = state?.config ?? (await loadRunConfig(options))
  const { namespace, workflowId, firstExecutionRunId } = workflowInfo()
  const counts = state?.counts ?? { turns: 0, cells: 0, toolCalls: 0, usage: zeroUsage, costUsd: 0 }
  const identity = { namespace, workflowId, firstExecutionRunId }
  return createRun({ config, identity, counts, stored: { bytes: state?.stored.bytes ?? 0 }, showsProgress: true })
}

/**
 * A run inside a workflow of a user.
 *
 * @param ordinal from 1: tells the runs of the workflow from each other
 */
export async function startEmbeddedRun(options: RunOptions, ordinal: number): Promise<Run> {
  const config = await loadRunConfig(options)
  // An execution that continues this one as new opens sessions of its own. A reset keeps this id.
  const { namespace, workflowId, originalExecutionRunId } = workflowInfo()
  const identity = { namespace, workflowId, firstExecutionRunId: `${originalExecutionRunId}/${ordinal}` }
  const counts = { turns: ordinal, cells: 0, toolCalls: 0, usage: zeroUsage, costUsd: 0 }
  return createRun({ config, identity, counts, stored: { bytes: 0 }, showsProgress: false })
}

/** Each may put 256 KiB into a workflow task, whose completion has at most 4 MiB. */
const maxLargeCalls = 8

function createRun(parts: Pick<Run, 'config' | 'identity' | 'stored' | 'showsProgress'> & { counts: RunCounts }): Run {
  const { config, counts } = parts
  return {
    ...parts,
    tools: new Map(config.tools.map((tool) => [tool.name, tool])),
    counts: { ...counts },
    quota: { calls: counts.toolCalls },
    callSlots: new Semaphore(config.limits.callsInFlight),
    largeCalls: new Semaphore(maxLargeCalls),
  }
}

/** True when the run may put nothing more into the value store. Then no cell and no call starts. */
export function isStorageExhausted({ stored, config }: Run): boolean {
  return stored.bytes >= config.limits.storedBytes
}

/** Adds the tokens and the cost of a model reply. */
export function addReplyUsage(run: Run, { usage, costUsd }: ModelReply): void {
  const { counts } = run
  counts.usage = addUsage(counts.usage, usage)
  counts.costUsd = counts.costUsd === null || costUsd === null ? null : counts.costUsd + costUsd
}

/** Shows in the Temporal UI what the run does. The UI reads it by a query; it does not enter the history. */
export function showProgress(run: Run, activity: string): void {
  if (!run.showsProgress) return
  const { turns, cells, toolCalls } = run.counts
  setCurrentDetails(
    `**${activity}**\n\nturn ${turns} of at most ${run.config.limits.turns} · cells ${cells} · ` +
      `tool calls ${toolCalls} (${run.callSlots.acquired} under way)`,
  )
}
