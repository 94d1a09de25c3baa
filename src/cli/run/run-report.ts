import type { CellOutcome, CellUsage } from '../../common/calls/outcomes.js'
import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { type FileInfo, fileInfo } from '../../common/files/files.js'
import type { JsonValue } from '../../common/json/json.js'
import { splitText } from '../../common/text/text-ranges.js'
import { type AgentResult, zeroUsage, type RunCounts } from '../../common/run/runs.js'
import type { RunTree } from '../../client/run-tree/index.js'
import { type CompensatedCalls, compensatedCalls } from './compensated-calls.js'

/** The object that `--json` prints for a run, with or without success. */
interface RunReport extends RunCounts, Partial<CellReport> {
  /** Null when no run started. */
  readonly workflowId: string | null
  /** Run id of the first execution. `ptc show --run` takes any run id of the continue-as-new chain. */
  readonly runId: string | null
  /**
   * Status of the agent (`answered`, `turn_limit` …) or program (`ok`, `code_error` …); otherwise `failed`, `cancelled`
   * …
   */
  readonly status: string
  /** The answer, or the captured output of the program. */
  readonly answer: string
  /** Only for an agent with an output schema. */
  readonly output?: JsonValue
  /** The steps of a run in mode `plan`. */
  readonly plan?: AgentResult['plan']
  /** From the start of the run to its end. */
  readonly durationMs: number
  /** Calls whose effects were undone, and calls whose effects could not be undone. Absent when there are none. */
  readonly compensation?: CompensatedCalls
  /** The files of the run. Absent: none. */
  readonly files?: readonly FileInfo[]
  readonly error?: { readonly code: string; readonly message: string }
}

/** @param error why the run has no result */
export function runReport(tree: RunTree, error: PtcError | undefined): RunReport {
  const { workflowId, runId, startedAt, endedAt, totals } = tree
  const { turns, cells, toolCalls, usage, costUsd, subagents } = totals
  const { status, answer, cell, output, plan, problem } = runOutcomeOf(tree)
  const compensation = compensatedCalls(tree)
  const reportedError = error === undefined ? problem : { code: error.code, message: error.message }
  return {
    workflowId,
    runId,
    status,
    answer,
    ...cell,
    ...defined({ output, plan }),
    turns,
    cells,
    toolCalls,
    usage,
    costUsd,
    ...defined({ subagents }),
    durationMs: Math.max(0, (endedAt ?? Date.now()) - startedAt),
    ...(tree.files && { files: tree.files.map(fileInfo) }),
    ...defined({ compensation, error: reportedError }),
  }
}

/** For a command that failed before it started a run. */
export function failureReport(thrown: unknown): RunReport {
  return {
    workflowId: null,
    runId: null,
    status: 'failed',
    answer: '',
    turns: 0,
    cells: 0,
    toolCalls: 0,
    usage: zeroUsage,
    costUsd: 0,
    durationMs: 0,
    error: { code: PtcError.isInstance(thrown) ? thrown.code : 'INTERNAL', message: messageOf(thrown) },
  }
}

interface RunOutcome {
  readonly status: string
  readonly answer: string
  readonly cell?: CellReport
  readonly output?: JsonValue
  readonly plan?: AgentResult['plan']
  readonly problem?: RunReport['error']
}

function runOutcomeOf(tree: RunTree): RunOutcome {
  if (tree.type === 'agent' && tree.result !== undefined) return tree.result
  if (tree.type === 'program' && tree.result !== undefined) {
    const outcome = withFullOutput(tree.result.outcome, tree)
    const { status, output: answer } = outcome
    const cell = cellReport(outcome)
    return outcome.status === 'ok'
      ? { status, answer, cell }
      : { status, answer, cell, problem: { code: status, message: outcome.error } }
  }
  return { status: tree.status, answer: '' }
}

/**
 * The outcome of a program with all captured output. The output of the result is truncated for a model; the history has
 * more.
 */
export function withFullOutput(outcome: CellOutcome, { turns }: Pick<RunTree, 'turns'>): CellOutcome {
  const cell = turns.flatMap(({ cells }) => cells)[0]
  const { output = '', stderr = [] } = cell ?? {}
  return output.length > outcome.output.length ? { ...outcome, output, stderr } : outcome
}

/** What `--json` prints of the code of a program, or of an execution. */
interface CellReport {
  readonly stdout: string
  readonly stderr: string
  /** Null for code that was stopped or lost. */
  readonly exitCode: number | null
  /** Null when the sandbox reported none. */
  readonly cellUsage: CellUsage | null
}

export function cellReport({ status, output, stderr: ranges = [], exitCode, usage }: CellOutcome): CellReport {
  const { inside: stderr, outside: stdout } = splitText(output, ranges)
  const code = exitCode ?? (status === 'ok' ? 0 : status === 'code_error' ? 1 : null)
  return { stdout, stderr, exitCode: code, cellUsage: usage ?? null }
}
