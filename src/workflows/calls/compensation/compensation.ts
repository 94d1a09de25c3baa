import type { AdmittedCall, Stage } from '../run-call.js'

/** Records a call that may have to be compensated: with its result, or when a failure leaves its effect unknown. */
export const compensation: Stage = async (call, next) => {
  if (!isCompensable(call)) return next(call)
  const inProgress = call.calls.compensations.begin({ ...call.input, summary: call.described.summary })
  try {
    const outcome = await next(call)
    inProgress.succeed(outcome.status === 'ok' ? outcome.value : null)
    return outcome
  } catch (thrown) {
    inProgress.fail(thrown)
    throw thrown
  }
}

/**
 * Returns whether a call may have to be compensated. Named sessions and workflows of users compensate no calls, because
 * they have no result that says whether their work is finished.
 */
export function isCompensable({ run: { kind }, tool }: AdmittedCall): boolean {
  return tool.compensates === true && kind !== 'session' && kind !== 'embedded'
}
