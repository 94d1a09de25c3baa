import { failpoint } from '../../common/failpoint.js'
import { PtcError } from '../../common/errors.js'
import {
  maxSnapshotBytes,
  type SessionSnapshot,
  type SnapshotInput,
  type SnapshotResult,
  snapshotSeconds,
} from '../../common/session/snapshots.js'
import type { SessionRef } from '../../common/session/session.js'
import type { SessionHost, AttachOptions } from '../../sandbox/session/session-host.js'
import type { Values } from '../../values/values.js'
import { quoteUntrusted } from '../../sandbox/sandbox-end.js'
import { type ActivityScope, runActivity } from '../run-activity.js'

const neededBy = 'the snapshot of the session'

/** Activity `session.snapshot`: stores the state of a session between two cells. Returns `skipped` when it can't. */
export function snapshotSession({ host, values }: { readonly host: SessionHost; readonly values: Values }) {
  return ({ session, step, limits }: SnapshotInput): Promise<SnapshotResult> =>
    runActivity(async ({ attempt, signal }) => {
      failpoint('snapshot.begins')
      const snapshot = await host.snapshot(
        session,
        step,
        { limits, bytes: maxSnapshotBytes, seconds: snapshotSeconds },
        { attempt, signal },
      )
      signal.throwIfAborted()
      if (snapshot.type === 'no_snapshot') return { type: 'skipped', reason: quoteUntrusted(snapshot.reason) }
      try {
        // Base64 in quotes is valid JSON.
        const state = await values.storeText(['"', ...snapshot.pieces, '"'], signal)
        failpoint('snapshot.stored')
        return { type: 'stored', state }
      } catch (thrown) {
        signal.throwIfAborted()
        if (PtcError.isInstance(thrown)) return { type: 'skipped', reason: thrown.message }
        throw thrown
      }
    })
}

/** Restores a snapshot in a fresh sandbox. Returns why the snapshot can't be restored; undefined on success. */
export async function restoreSnapshot(
  host: SessionHost,
  values: Values,
  session: SessionRef,
  { state, steps }: SessionSnapshot,
  attachOptions: AttachOptions,
  { attempt, signal }: Pick<ActivityScope, 'attempt' | 'signal'>,
): Promise<string | undefined> {
  const step = { number: steps, now: 0, input: { type: 'restore', snapshot: state } } as const
  const readValue = () => values.readUtf8(state, neededBy, signal)
  const options = { attempt, signal, onOutput: () => undefined, readValue }
  try {
    const result = await host.executeStep(session, step, attachOptions, options)
    if (result.type === 'lost') return result.reason
    failpoint('snapshot.restored')
    if (result.type !== 'restored') return `the sandbox answered "restore" with "${result.type}"`
    return result.problem === null ? undefined : quoteUntrusted(result.problem)
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && valueErrorCodes.has(thrown.code)) return thrown.message
    throw thrown
  }
}

const valueErrorCodes: ReadonlySet<string> = new Set([
  'VALUE_MISSING',
  'VALUE_CORRUPT',
  'VALUE_STORE_REFUSED',
  'DECRYPTION_FAILED',
])
