import { messageOf, PtcError } from '../../common/errors.js'
import { noUsage, type RunCounts } from '../../common/runs.js'
import type { RunTree } from '../history/index.js'
import { withCaptured } from './captured.js'

/** What `--json` prints of a run: one object, whatever became of it. */
export interface RunReport extends RunCounts {
  /** Null when no run was started. */
  readonly workflowId: string | null
  /** The one it began as; a long run goes on in others. `ptc show --run` takes any of them. */
  readonly runId: string | null
  /** How the agent ended (`answered`, `turn_limit` …) or its program (`ok`, `code_error` …); `failed`, `cancelled` … */
  readonly status: string
  /** The model's answer, or what the program printed, as far as it was captured. */
  readonly answer: string
  /** From its first history to the end of its last. */
  readonly durationMs: number
  readonly error?: { readonly code: string; readonly message: string }
}

/** @param error why the run did not end well */
export function runReport(tree: RunTree, error: PtcError | undefined): RunReport {
  const { workflowId, runId, startedAt, endedAt, totals } = tree
  const { turns, cells, toolCalls, usage, costUsd } = totals
  const { status, answer, problem } = endingOf(tree)
  const why = error === undefined ? problem : { code: error.code, message: error.message }
  return {
    workflowId,
    runId,
    status,
    answer,
    turns,
    cells,
    toolCalls,
    usage,
    costUsd,
    durationMs: Math.max(0, (endedAt ?? Date.now()) - startedAt),
    ...(why === undefined ? {} : { error: why }),
  }
}

/** For a command that failed before there was a run. */
export function failureReport(thrown: unknown): RunReport {
  return {
    workflowId: null,
    runId: null,
    status: 'failed',
    answer: '',
    turns: 0,
    cells: 0,
    toolCalls: 0,
    usage: noUsage,
    costUsd: 0,
    durationMs: 0,
    error: { code: PtcError.isInstance(thrown) ? thrown.code : 'INTERNAL', message: messageOf(thrown) },
  }
}

interface Ending {
  readonly status: string
  readonly answer: string
  readonly problem?: RunReport['error']
}

function endingOf(tree: RunTree): Ending {
  if (tree.type === 'agent' && tree.result !== undefined) return tree.result
  if (tree.type === 'program' && tree.result !== undefined) {
    const outcome = withCaptured(tree.result.outcome, tree)
    const { status, output: answer } = outcome
    return outcome.status === 'ok'
      ? { status, answer }
      : { status, answer, problem: { code: status, message: outcome.error } }
  }
  return { status: tree.status, answer: '' }
}
