import { getClient } from '@temporalio/activity'
import type { Workflow } from '@temporalio/common'
import { defined } from '../../common/defined.js'
import { failpoint } from '../../common/failpoint.js'
import { memoKeys, workflowNames } from '../../common/names.js'
import { metrics } from '../../common/telemetry/metrics.js'
import { PtcError } from '../../common/errors.js'
import { pickStepLimits } from '../../common/run/limits.js'
import type { BackendName } from '../../common/run/run-config.js'
import {
  type InterruptInput,
  type OpenedSession,
  type OpenInput,
  type SessionInput,
  type SessionRef,
  sessionSummary,
} from '../../common/session/session.js'
import type { SessionHost } from '../../sandbox/session/session-host.js'
import { runActivity, type ActivityParts } from '../run-activity.js'
import { executeFirstStep, type StepParts } from './execute-step.js'
import { loadFiles } from '../../skills/index.js'
import { loadSignatures } from '../../tools/sources/tool-set.js'
import type { StartSessionInput } from '../../common/session/shared-cells.js'

interface HostPart {
  readonly host: SessionHost
}

export interface SandboxParts extends ActivityParts, HostPart {
  /** The task queue of the sessions with a backend on this host. */
  readonly hostQueueOf: (backend: BackendName) => string
}

/**
 * Activity `session.open`: opens a sandbox on any host, and returns the task queue of its backend on that host. Executes
 * the first step of the session as well, if it is short.
 */
export function openSession(parts: SandboxParts & StepParts) {
  const { host, registry, values, hostQueueOf } = parts
  return ({
    session,
    language,
    limits,
    tools,
    files = [],
    network,
    image: choice,
    pinnedImage: pinned,
    firstStep,
    reason,
  }: OpenInput): Promise<OpenedSession> =>
    runActivity(async (scope) => {
      const { workflowId, runId, signal } = scope
      failpoint('open.begins')
      const signatures = await loadSignatures(tools, registry, values, signal)
      const mounted = files.length === 0 ? undefined : await loadFiles(files, values, signal)
      const image = choice || pinned !== undefined ? defined({ choice, pinned }) : undefined
      const given = defined({ tools: signatures, files: mounted, image, network })
      const spec = { workflowId, runId, language, limits, ...given }
      const opened = await host.open(session, spec, signal)
      const { backend } = opened.session
      metrics.add('ptc_session_opens_total', 1, { backend, reason })
      failpoint('open.ends')
      const step = firstStep && { ...firstStep, session: opened.session, tools, limits: pickStepLimits(limits) }
      const result = step && (await executeFirstStep(parts, step, scope))
      return { ...opened, hostQueue: hostQueueOf(backend), ...defined({ firstStep: result }) }
    })
}

/**
 * Activity `session.interrupt`: interrupts the code of a running step. The activity is retried until the step runs on
 * this worker.
 */
export function interruptSession({ host }: HostPart) {
  return ({ session, step }: InterruptInput): Promise<void> =>
    runActivity(async () => {
      if (await host.interrupt(session, step)) return
      throw new PtcError('SANDBOX_UNAVAILABLE', `step ${step} is not running on this worker`)
    })
}

/** Activity `session.park`: returns true if the sandbox was kept as a checkpoint, and false if it was removed. */
export function parkSession({ host }: HostPart) {
  return (session: SessionRef): Promise<boolean> => runActivity(({ signal }) => host.park(session, signal))
}

/** Activity `session.close`: removes the sandbox. */
export function closeSession({ host }: HostPart) {
  return (session: SessionRef): Promise<void> =>
    runActivity(async () => {
      failpoint('close.begins')
      await host.close(session)
      failpoint('close.ends')
    })
}

/**
 * Activity `session.start`: starts a named session for a run, unless a session with this name runs. Returns the run id
 * of the session.
 */
export function startSession() {
  return ({ workflowId, taskQueue, session }: StartSessionInput): Promise<string> =>
    runActivity(async () => {
      const summary = sessionSummary(session)
      const { firstExecutionRunId } = await getClient().workflow.start<(input: SessionInput) => ReturnType<Workflow>>(
        workflowNames.session,
        {
          workflowId,
          taskQueue,
          args: [session],
          workflowIdConflictPolicy: 'USE_EXISTING',
          staticSummary: summary,
          memo: { [memoKeys.summary]: summary },
        },
      )
      failpoint('session.started')
      return firstExecutionRunId
    })
}
