import { crashPoint } from '../common/crash-point.js'
import type { StepLimits } from '../common/limits.js'
import { PtcError } from '../common/errors.js'
import type {
  AdvanceAnswer,
  AdvanceInput,
  InterruptInput,
  OpenedSession,
  OpenInput,
  SessionRef,
  Step,
  StepAnswer,
  StepInput,
} from '../common/steps.js'
import type { SessionHost, StepFacts } from '../sandbox/session-host.js'
import type { ToolRegistry } from '../tools/registry.js'
import { refOf, type ValueRef } from '../common/values.js'
import type { Values } from '../values/values.js'
import { type ActivityScope, inActivity } from './in-activity.js'
import { describeAnswer, type Describing, lookAtAnswer } from './describe-answer.js'
import { recordedSteps } from './journal.js'
import { difference } from './repeated-step.js'
import { restoreSnapshot } from './snapshots.js'
import { isRunsRegistry, signaturesOf } from './tool-set.js'

/** Printed text shown beside a running step. */
const shownCharacters = 500

/** Not every host of a fleet has every backend; when so many attempts have met none that has, there is none. */
const attemptsToMeetAHost = 5

/** Activity `session.open`: any sandbox host takes it, and answers its own queue. */
export function openSession(host: SessionHost, registry: ToolRegistry, values: Values, hostQueue: string) {
  return ({ session, limits, tools }: OpenInput): Promise<OpenedSession> =>
    inActivity(
      async ({ workflowId, runId, signal }) => {
        crashPoint('open.begins')
        const signatures = await signaturesOf(tools, registry, values, signal)
        const opened = await host.open(
          session,
          { workflowId, runId, limits, ...(signatures && { tools: signatures }) },
          signal,
        )
        crashPoint('open.ends')
        return { ...opened, hostQueue }
      },
      (attempt) => attempt >= attemptsToMeetAHost && !host.offers(session.backend),
    )
}

/** Activity `session.advance`: repeats recorded steps (a rebuild), then takes the new one. */
export function advanceSession(host: SessionHost, registry: ToolRegistry, values: Values) {
  return (input: AdvanceInput & { readonly limits: StepLimits }): Promise<AdvanceAnswer> =>
    inActivity((scope) => {
      const { limits, tools } = input
      const describing = { registry, isRunsRegistry: isRunsRegistry(registry, tools), values, limits }
      return advance(host, { ...describing, signal: scope.signal }, input, scope)
    })
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
  return (session: SessionRef): Promise<void> =>
    inActivity(async () => {
      crashPoint('close.begins')
      await host.close(session)
      crashPoint('close.ends')
    })
}

async function advance(
  host: SessionHost,
  describing: Describing,
  { session, tools: runTools, recorded, step, outputRoom, limits }: AdvanceInput & { readonly limits: StepLimits },
  scope: ActivityScope,
): Promise<AdvanceAnswer> {
  crashPoint('advance.begins')
  const { registry, values } = describing
  const { attempt, signal, report } = scope
  const signatures = await signaturesOf(runTools, registry, values, signal)
  const facts: StepFacts = { limits, ...(signatures && { tools: signatures }) }
  let printed = ''
  const onOutput = (text: string): void => {
    printed = (printed + text).slice(-shownCharacters)
    report({ printed })
  }
  const take = (next: Step): Promise<StepAnswer> => {
    const readValue = (ref: ValueRef) => values.readText(ref, neededBy(ref, next.input), signal)
    return host.advance(session, next, facts, { attempt, signal, onOutput, readValue })
  }
  const { snapshot } = recorded ?? {}
  const unrestored = snapshot && (await restoreSnapshot(host, values, session, snapshot, facts, scope))
  if (unrestored !== undefined) return { type: 'unrestored', reason: unrestored }
  // Without the snapshot it may go well.
  const failed = (problem: Extract<AdvanceAnswer, { type: 'lost' | 'diverged' }>): AdvanceAnswer =>
    snapshot ? { type: 'unrestored', reason: problem.reason } : problem
  const past = recorded ? await recordedSteps(values, recorded, signal) : []
  let cell = 0
  for (const [offset, { answer, interruptedAfterMs, ...taken }] of past.entries()) {
    if (taken.input.type === 'cell') cell = taken.input.cell
    const number = (snapshot?.steps ?? 0) + offset + 1
    const repeated = await interruptedAgain(host, session, number, interruptedAfterMs, () => take({ number, ...taken }))
    const described = await lookAtAnswer(repeated, describing) // what it holds was stored when it was taken
    crashPoint('step.repeated')
    if (described.type === 'lost') return failed(described)
    const reason = difference(answer, described)
    if (reason !== undefined) return failed({ type: 'diverged', reason: `in cell ${cell}, ${reason}` })
  }
  if (!step) return { type: 'repeated' }
  const answer = await describeAnswer(await take(step), describing, outputRoom)
  crashPoint('advance.ends')
  return answer
}

/** For a value that is not there: what can't go on without it. */
function neededBy({ sha256 }: ValueRef, input: StepInput): string {
  if (input.type === 'cell') return `the code of cell ${input.cell}`
  const results = input.type === 'results' ? input.results : []
  const found = results.find(({ outcome }) => outcome.status === 'ok' && refOf(outcome.value)?.sha256 === sha256)
  return `the result of call ${found?.index ?? 0} of the session`
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
