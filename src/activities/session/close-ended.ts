import { raceWithTimeLimit } from '../../common/async/abort.js'
import { failpoint } from '../../common/failpoint.js'
import type { SessionRef } from '../../common/session/session.js'
import type { DescribedStepResult } from '../../common/session/steps.js'
import type { SessionHost } from '../../sandbox/session/session-host.js'
import type { ActivityScope } from '../run-activity.js'

/** Milliseconds after which an activity ends before the sandbox is removed. */
const maxCloseMs = 5_000

/**
 * Removes the sandbox when this result ends the last cell of its session, and nothing has to be read from it. Never
 * rejects: the workflow removes a sandbox without `closed`. When this attempt is lost, the next one finds no sandbox,
 * and the session is rebuilt.
 */
export async function closeIfEnded(
  host: SessionHost,
  session: SessionRef,
  result: DescribedStepResult,
  { signal, remainingMs }: Pick<ActivityScope, 'signal' | 'remainingMs'>,
): Promise<DescribedStepResult> {
  if ((result.type !== 'completed' && result.type !== 'failed') || result.files !== undefined) return result
  try {
    await raceWithTimeLimit(signal, Math.min(maxCloseMs, remainingMs()), async () => {
      failpoint('close.begins')
      await host.close(session)
      failpoint('close.ends')
    })
    return { ...result, closed: true }
  } catch {
    return result
  }
}
