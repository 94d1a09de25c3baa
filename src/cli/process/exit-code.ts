import { type ErrorCode, PtcError } from '../../common/errors.js'
import { Interrupted } from './interrupts.js'

/** Exit codes of the commands. */
export const exitCodes = {
  ok: 0,
  /** The run failed, was refused or has an incomplete answer; or the command failed. */
  failed: 1,
  /** The command line, or a file that it names, is invalid. */
  usage: 2,
  /** No Temporal server, or no worker. */
  unreachable: 3,
  /** The model gave up. This is a kind of answer, which a script may want to tell from a failure. */
  gaveUp: 4,
  interrupted: 130,
} as const

const exitCodeByError: Partial<Readonly<Record<ErrorCode, number>>> = {
  TEMPORAL_UNREACHABLE: exitCodes.unreachable,
  WORKER_MISSING: exitCodes.unreachable,
  RUN_INPUT_INVALID: exitCodes.usage,
  CONFIG_NOT_FOUND: exitCodes.usage,
  CONFIG_INVALID: exitCodes.usage,
  TOOL_NAME_INVALID: exitCodes.usage,
  TOOL_DUPLICATE: exitCodes.usage,
  TOOL_UNKNOWN: exitCodes.usage,
  AGENT_DUPLICATE: exitCodes.usage,
  EVAL_TASK_INVALID: exitCodes.usage,
  EVAL_NOT_FOUND: exitCodes.usage,
}

export function exitCodeOf(thrown: unknown): number {
  if (thrown instanceof Interrupted || isAbortError(thrown)) return exitCodes.interrupted
  if (PtcError.isInstance(thrown)) return exitCodeByError[thrown.code] ?? exitCodes.failed
  return exitCodes.failed
}

/** Whether a library threw because its signal was aborted. Only the user aborts the signals of a command. */
function isAbortError(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError'
}
