import { crashPoint } from '../common/crash-point.js'
import { PtcError } from '../common/errors.js'
import type { SnapshotAnswer, SnapshotInput, SnapshotMark } from '../common/snapshots.js'
import type { SessionRef } from '../common/steps.js'
import type { SessionHost, StepFacts } from '../sandbox/session-host.js'
import type { Values } from '../values/values.js'
import { quoted } from '../sandbox/lost.js'
import { type ActivityScope, inActivity } from './in-activity.js'

const neededBy = 'the snapshot of the session'

/** Activity `session.snapshot`: keeps the state of a session between two cells. That it can't is no failure. */
export function snapshotSession(host: SessionHost, values: Values) {
  return ({ session, step, limits, bytes, seconds }: SnapshotInput): Promise<SnapshotAnswer> =>
    inActivity(async ({ attempt, signal }) => {
      crashPoint('snapshot.begins')
      const taken = await host.snapshot(session, step, { limits, bytes, seconds }, { attempt, signal })
      signal.throwIfAborted()
      if (taken.type === 'no_snapshot') return { type: 'refused', reason: quoted(taken.reason) }
      try {
        // Base64 in quotes is JSON.
        const state = await values.keepText(['"', ...taken.pieces, '"'], signal)
        crashPoint('snapshot.kept')
        return { type: 'kept', state }
      } catch (thrown) {
        signal.throwIfAborted()
        if (PtcError.isInstance(thrown)) return { type: 'refused', reason: thrown.message }
        throw thrown
      }
    })
}

/** Makes a fresh sandbox what a snapshot is of. Gives why that did not succeed; what is wrong with a snapshot is no failure. */
export async function restoreSnapshot(
  host: SessionHost,
  values: Values,
  session: SessionRef,
  { state, steps }: SnapshotMark,
  facts: StepFacts,
  { attempt, signal }: Pick<ActivityScope, 'attempt' | 'signal'>,
): Promise<string | undefined> {
  const step = { number: steps, now: 0, input: { type: 'restore', snapshot: state } } as const
  const readValue = () => values.readText(state, neededBy, signal)
  const options = { attempt, signal, onOutput: () => undefined, readValue }
  try {
    const answer = await host.advance(session, step, facts, options)
    if (answer.type === 'lost') return answer.reason
    crashPoint('snapshot.restored')
    if (answer.type !== 'restored') return 'the sandbox did something else'
    return answer.problem === null ? undefined : quoted(answer.problem)
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && aboutTheValue.has(thrown.code)) return thrown.message
    throw thrown
  }
}

const aboutTheValue: ReadonlySet<string> = new Set(['VALUE_MISSING', 'VALUE_CORRUPT', 'VALUE_STORE_REFUSED'])
