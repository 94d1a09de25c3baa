import { type ErrorCode, PtcError } from '../../common/errors.js'
import { Interrupted } from './interrupts.js'

/** What shells are told. */
export const exitCodes = {
  ok: 0,
  /** The run failed, was refused, or has no full answer; a command could not do what it was asked. */
  failed: 1,
  /** The command line or a file it names is wrong. */
  usage: 2,
  /** No Temporal, or no worker. */
  unreachable: 3,
  interrupted: 130,
} as const

const codes: Partial<Readonly<Record<ErrorCode, number>>> = {
  TEMPORAL_UNREACHABLE: exitCodes.unreachable,
  WORKER_MISSING: exitCodes.unreachable,
  RUN_INPUT_INVALID: exitCodes.usage,
  CONFIG_NOT_FOUND: exitCodes.usage,
  CONFIG_INVALID: exitCodes.usage,
  TOOL_NAME_INVALID: exitCodes.usage,
  TOOL_DUPLICATE: exitCodes.usage,
}

export function exitCodeOf(thrown: unknown): number {
  if (thrown instanceof Interrupted || isAbort(thrown)) return exitCodes.interrupted
  if (PtcError.isInstance(thrown)) return codes[thrown.code] ?? exitCodes.failed
  return exitCodes.failed
}

/** What libraries throw when their signal is aborted; ours are aborted by the user alone. */
function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError'
}
