import { defineUpdate, setHandler } from '@temporalio/workflow'
import { type CompleteCallInput, maxDeciderLength } from '../../common/calls/deferred-calls.js'
import { completeCallUpdate } from '../../common/names.js'
import { failWorkflowOnError } from '../temporal/fail-workflow.js'
import type { DeferredCalls } from './deferred-calls.js'
import { noLongerWaiting } from './deferred-outcome.js'
import { rejection } from '../temporal/rejection.js'

const completeCall = defineUpdate<void, [CompleteCallInput]>(completeCallUpdate)

/**
 * Handles the update that completes a deferred call.
 *
 * @param runs the deferred calls of each run of this workflow
 */
export function handleCompletions(runs: () => Iterable<DeferredCalls>): void {
  const find = (input: CompleteCallInput): DeferredCalls => {
    const found = [...runs()].find((calls) => calls.hasSigned(input))
    if (!found) throw noLongerWaiting()
    return found
  }
  const validator = (input: unknown): void => {
    assertCompleteCallInput(input)
    find(input).validate(input)
  }
  setHandler(completeCall, (input) => failWorkflowOnError(async () => find(input).complete(input)), { validator })
}

function isFailure({ message, compensate }: { readonly message: unknown; readonly compensate?: unknown }): boolean {
  return typeof message === 'string' && (compensate === undefined || compensate === true)
}

/** @throws ApplicationFailure RUN_INPUT_INVALID */
function assertCompleteCallInput(input: unknown): asserts input is CompleteCallInput {
  const { idempotencyKey, signature, digest, result, by } = (input ?? {}) as Partial<CompleteCallInput>
  const isComplete = [idempotencyKey, signature, digest].every((part) => typeof part === 'string')
  const hasResult = result?.type === 'value' || (result?.type === 'failure' && isFailure(result))
  const hasDecider = by === undefined || (typeof by === 'string' && by.length <= maxDeciderLength)
  if (!isComplete || !hasResult || !hasDecider)
    throw rejection('RUN_INPUT_INVALID', `the input of ${completeCallUpdate} is not valid`)
}
