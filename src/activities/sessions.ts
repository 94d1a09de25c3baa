import type { Limits } from '../common/limits.js'
import { PtcError } from '../common/errors.js'
import type {
  AdvanceAnswer,
  AdvanceInput,
  InterruptInput,
  OpenedSession,
  SessionRef,
  StepAnswer,
} from '../common/steps.js'
import type { SessionHost } from '../sandbox/session-host.js'
import type { ToolRegistry } from '../tools/registry.js'
import { type ActivityScope, inActivity } from './in-activity.js'
import { describeAnswer } from './describe-answer.js'
import { difference } from './repeated-step.js'

/** Printed text shown beside a running step. */
const shownCharacters = 500

/** Activity `session.open`: any sandbox host takes it, and answers its own queue. */
export function openSession(host: SessionHost, hostQueue: string) {
  return ({ session, limits }: { readonly session: SessionRef; readonly limits: Limits }): Promise<OpenedSession> =>
    inActivity(async ({ workflowId, runId, signal }) => {
      const opened = await host.open(session, { workflowId, runId, limits }, signal)
      return { ...opened, hostQueue }
    })
}

/** Activity `session.advance`: repeats recorded steps (a rebuild), then takes the new one. */
export function advanceSession(host: SessionHost, registry: ToolRegistry) {
  return (input: AdvanceInput & { readonly limits: Limits }): Promise<AdvanceAnswer> =>
    inActivity((scope) => advance(host, registry, input, scope))
}

/** Activity `session.interrupt`: the code of a step that is under way is to stop. Tried again until it is, on the right worker. */
export function interruptSession(host: SessionHost) {
  return ({ session, step }: InterruptInput): Promise<void> =>
    inActivity(async () => {
      if (await host.interrupt(session, step)) return
      throw new PtcError('SANDBOX_UNAVAILABLE', `step ${step} is not under way on this worker`)
    })
}

/** Activity `session.park`: is the sandbox kept as it is? If not, it is gone. */
export function parkSession(host: SessionHost) {
  return (session: SessionRef): Promise<boolean> => inActivity(({ signal }) => host.park(session, signal))
}

/** Activity `session.close`. */
export function closeSession(host: SessionHost) {
  return (session: SessionRef): Promise<void> => inActivity(() => host.close(session))
}

async function advance(
  host: SessionHost,
  registry: ToolRegistry,
  { session, recorded, firstRecorded, step, outputRoom, limits }: AdvanceInput & { readonly limits: Limits },
  { workflowId, runId, attempt, signal, report }: ActivityScope,
): Promise<AdvanceAnswer> {
  const owner = { workflowId, runId, limits }
  let printed = ''
  const onOutput = (text: string): void => {
    printed = (printed + text).slice(-shownCharacters)
    report({ printed })
  }
  for (const [offset, past] of recorded.entries()) {
    const again = { number: firstRecorded + offset, now: past.now, input: past.input }
    const repeat = () => host.advance(session, again, owner, { attempt, signal, onOutput })
    const repeated = await interruptedAgain(host, session, again.number, past.interruptedAfterMs, repeat)
    const answer = describeAnswer(repeated, registry, limits, outputRoom)
    if (answer.type === 'lost') return answer
    const reason = difference(past.answer, answer)
    if (reason !== undefined) return { type: 'diverged', reason }
  }
  if (!step) return { type: 'repeated' }
  const answer = await host.advance(session, step, owner, { attempt, signal, onOutput })
  return describeAnswer(answer, registry, limits, outputRoom)
}

/** Code that was interrupted is interrupted again when it is repeated: without, it would run on, into calls it never made. */
async function interruptedAgain(
  host: SessionHost,
  session: SessionRef,
  step: number,
  afterMs: number | undefined,
  repeat: () => Promise<StepAnswer>,
): Promise<StepAnswer> {
  if (afterMs === undefined) return repeat()
  const timer = setTimeout(() => void host.interrupt(session, step).catch(() => undefined), afterMs)
  try {
    return await repeat()
  } finally {
    clearTimeout(timer)
  }
}
