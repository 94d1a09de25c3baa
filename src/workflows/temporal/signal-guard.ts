import {
  type ActivateInput,
  defaultPayloadConverter,
  log,
  type Next,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow'

/**
 * Leaves out signals with arguments that are not valid JSON although their encoding says JSON: another client or
 * another tool wrote them. Otherwise the SDK would fail every attempt of the workflow task, and the run could not
 * continue.
 *
 * The decision depends on the events alone, so a replay leaves out the same signals. The SDK handles unknown encodings:
 * a later version of the worker may have the data converter or the codec.
 */
export class SignalGuard implements WorkflowInternalsInterceptor {
  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const { activation } = input
    const jobs = activation.jobs ?? []
    const dropped = jobs.filter(({ signalWorkflow: signal }) => signal?.input?.some(isMalformed) === true)
    // The activation is changed in place: its defaults are in its prototype, which a copy would lose.
    if (dropped.length > 0) activation.jobs = jobs.filter((job) => !dropped.includes(job))
    next(input)
    for (const { signalWorkflow: signal } of dropped)
      log.warn(`signal ${signal?.signalName ?? ''} is ignored: its argument is not JSON`)
  }
}

type SignalPayload = Parameters<typeof defaultPayloadConverter.fromPayload>[0]

function isMalformed(payload: SignalPayload): boolean {
  if (String.fromCharCode(...(payload.metadata?.['encoding'] ?? [])) !== 'json/plain') return false
  try {
    defaultPayloadConverter.fromPayload(payload)
    return false
  } catch {
    return true
  }
}
