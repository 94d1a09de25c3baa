import {
  type ActivateInput,
  defaultPayloadConverter,
  log,
  type Next,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow'

/**
 * Leaves out signals whose arguments are not JSON although they say so: another client or another tool wrote them. The
 * SDK would fail the workflow task, again and again, and the run could not continue.
 *
 * Depends on the events alone, so a replay leaves out the same signals. An encoding that is not known here is left to
 * the SDK: a data converter or a codec that the worker lacks may be added.
 */
export class SignalGuard implements WorkflowInternalsInterceptor {
  activate(input: ActivateInput, next: Next<WorkflowInternalsInterceptor, 'activate'>): void {
    const { activation } = input
    const jobs = activation.jobs ?? []
    const dropped = jobs.filter(({ signalWorkflow: signal }) => signal?.input?.some(isMalformed) === true)
    // Changed in place: an activation has its defaults in its prototype, which a copy would lose.
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
