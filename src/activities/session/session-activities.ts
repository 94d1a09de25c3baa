import { failpoint } from '../../common/failpoint.js'
import { metrics } from '../../common/telemetry/metrics.js'
import { PtcError } from '../../common/errors.js'
import type { BackendName } from '../../common/run/run-config.js'
import type { InterruptInput, OpenedSession, OpenInput, SessionRef } from '../../common/session/session.js'
import type { SessionHost } from '../../sandbox/session/session-host.js'
import type { ToolRegistry } from '../../tools/registry.js'
import type { Values } from '../../values/values.js'
import { runActivity } from '../run-activity.js'
import { loadSignatures } from '../../tools/sources/tool-set.js'

/** Activity `session.open`: opens a sandbox on any host, and returns the task queue of its backend on that host. */
export function openSession(
  host: SessionHost,
  registry: ToolRegistry,
  values: Values,
  hostQueueOf: (backend: BackendName) => string,
) {
  return ({ session, limits, tools, reason }: OpenInput): Promise<OpenedSession> =>
    runActivity(async ({ workflowId, runId, signal }) => {
      failpoint('open.begins')
      const signatures = await loadSignatures(tools, registry, values, signal)
      const spec = { workflowId, runId, limits, ...(signatures && { tools: signatures }) }
      const opened = await host.open(session, spec, signal)
      const { backend } = opened.session
      metrics.add('ptc_session_opens_total', 1, { backend, reason })
      failpoint('open.ends')
      return { ...opened, hostQueue: hostQueueOf(backend) }
    })
}

/**
 * Activity `session.interrupt`: interrupts the code of a running step. The activity is retried until the step runs on
 * this worker.
 */
export function interruptSession(host: SessionHost) {
  return ({ session, step }: InterruptInput): Promise<void> =>
    runActivity(async () => {
      if (await host.interrupt(session, step)) return
      throw new PtcError('SANDBOX_UNAVAILABLE', `step ${step} is not running on this worker`)
    })
}

/** Activity `session.park`: returns true if the sandbox was kept as a checkpoint, and false if it was removed. */
export function parkSession(host: SessionHost) {
  return (session: SessionRef): Promise<boolean> => runActivity(({ signal }) => host.park(session, signal))
}

/** Activity `session.close`: removes the sandbox. */
export function closeSession(host: SessionHost) {
  return (session: SessionRef): Promise<void> =>
    runActivity(async () => {
      failpoint('close.begins')
      await host.close(session)
      failpoint('close.ends')
    })
}
