import type { Effect } from '../../common/calls/calls.js'
import type { RemoteTarget } from '../../common/calls/tool-config.js'
import type { ToolContext } from '../tool.js'
import type { InvalidError } from './invalid-tool.js'

/** First argument of a tool's `compensate`: the call whose effect must be undone. */
export interface CompensatedCall<Input, Output> {
  /** The arguments that `run` got. */
  readonly arguments: Input
  /**
   * The result of the call. Undefined when its outcome is unknown (a timeout, a lost worker, a cancellation): then the
   * effect may or may not exist.
   */
  readonly result: Output | undefined
  /** Idempotency key of the call. The context has the key of the compensation. */
  readonly idempotencyKey: string
}

/** Undoes the effect of a call. */
export type Compensate = (call: CompensatedCall<never, never>, context: ToolContext) => void | Promise<void>

interface CompensationDefinition {
  readonly compensate?: unknown
  readonly effect: Effect
  readonly deferred?: unknown
}

/**
 * The inverse of a tool, bound to its definition; undefined for a tool without one.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function compensateOf(
  definition: CompensationDefinition,
  remote: RemoteTarget | undefined,
  invalid: InvalidError,
): { readonly compensate?: Compensate } {
  const { compensate, effect, deferred } = definition
  if (compensate === undefined) return {}
  if (typeof compensate !== 'function') throw invalid('compensate must be a function')
  if (remote !== undefined) {
    throw invalid('compensate is for a tool with run', `A worker of durable-ptc can't undo what a ${remote.kind} does.`)
  }
  if (deferred !== undefined) {
    throw invalid('compensate is not for a deferred tool', 'The system that has the work undoes it.')
  }
  if (effect === 'read') throw invalid("compensate is not for effect 'read'", 'A read changes nothing.')
  return { compensate: compensate.bind(definition) as Compensate }
}
