import type { ErrorCode, PtcError } from '../../common/errors.js'
import type { RunTree } from '../../client/index.js'

/**
 * Errors of runs that are the work of the model, and so are verdicts. All other errors are of the infrastructure: a
 * model that could not be reached has not failed a task.
 */
const verdictCodes: readonly ErrorCode[] = ['MODEL_REPLY_INVALID', 'MODEL_CONTEXT_TOO_LONG', 'LIMIT_EXCEEDED']

/** Errors of requests that a provider refused before it computed anything. */
const unpaidCodes: readonly ErrorCode[] = [
  'MODEL_AUTH',
  'MODEL_BAD_REQUEST',
  'MODEL_NOT_FOUND',
  'MODEL_RATE_LIMIT',
  'MODEL_OVERLOADED',
  'MODEL_PROVIDER_MISSING',
]

/** Errors that another attempt would repeat, and pay for. */
const lastingKinds: readonly string[] = [
  'check_error',
  'usage_unknown',
  'MODEL_AUTH',
  'MODEL_BAD_REQUEST',
  'MODEL_NOT_FOUND',
  'RUN_INPUT_INVALID',
  'CONFIG_INVALID',
  'TOOL_UNKNOWN',
  'AGENT_UNKNOWN',
] satisfies readonly (ErrorCode | 'check_error' | 'usage_unknown')[]

/** Whether another attempt of a sample may end in another way. */
export function mayPassLater({ state, kind }: { readonly state: string; readonly kind?: string | null }): boolean {
  return state === 'error' && !lastingKinds.includes(kind ?? '')
}

export function isVerdict(error: PtcError): boolean {
  return verdictCodes.includes(error.code)
}

/** Whether a provider may have charged for replies that the history does not have. */
export function mayHaveUnknownCost(error: PtcError): boolean {
  return error.code.startsWith('MODEL_') && !unpaidCodes.includes(error.code)
}

/**
 * Why a run that did not end in time was not slow because of its model: no worker, no sandbox, a provider that does not
 * answer. Undefined: the model, its code or its calls took the time.
 */
export function infrastructureDelay({ unserved, phase, turns }: RunTree): string | undefined {
  const [first] = unserved
  if (first !== undefined) return 'no worker serves a task queue of the run'
  if (phase.type === 'starting') return 'the run had not begun'
  if (phase.type === 'opening_sandbox') return 'its sandbox was not ready'
  if (phase.type === 'rebuilding' || phase.type === 'waking') return 'its sandbox was being rebuilt'
  const model = turns.at(-1)?.model
  if (phase.type === 'model' && model?.lastFailure !== undefined)
    return `requests to its model failed: ${model.lastFailure.message}`
  return undefined
}
