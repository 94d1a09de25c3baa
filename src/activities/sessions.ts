import type { Limits } from '../common/limits.js'
import type {
  AdvanceAnswer,
  AdvanceInput,
  OpenedSession,
  SessionRef,
  Step,
  StepAnswer,
  StepInput,
} from '../common/steps.js'
import type { SessionHost } from '../sandbox/session-host.js'
import type { ToolRegistry } from '../tools/registry.js'
import { refOf, type ValueRef } from '../common/values.js'
import type { Values } from '../values/values.js'
import { type ActivityScope, inActivity } from './in-activity.js'
import { describeAnswer, type Describing } from './describe-answer.js'
import { recordedSteps } from './journal.js'
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
export function advanceSession(host: SessionHost, registry: ToolRegistry, values: Values) {
  return (input: AdvanceInput & { readonly limits: Limits }): Promise<AdvanceAnswer> =>
    inActivity((scope) => advance(host, { registry, values, limits: input.limits, signal: scope.signal }, input, scope))
}

/** Activity `session.close`. */
export function closeSession(host: SessionHost) {
  return (session: SessionRef): Promise<void> => inActivity(() => host.close(session))
}

async function advance(
  host: SessionHost,
  describing: Describing,
  { session, recorded, step, outputRoom }: AdvanceInput,
  { workflowId, runId, attempt, signal, report }: ActivityScope,
): Promise<AdvanceAnswer> {
  const { values, limits } = describing
  const owner = { workflowId, runId, limits }
  let printed = ''
  const onOutput = (text: string): void => {
    printed = (printed + text).slice(-shownCharacters)
    report({ printed })
  }
  const take = (next: Step): Promise<StepAnswer> => {
    const readValue = (ref: ValueRef) => values.readText(ref, neededBy(ref, next.input), signal)
    return host.advance(session, next, owner, { attempt, signal, onOutput, readValue })
  }
  const past = recorded ? await recordedSteps(values, recorded, signal) : []
  for (const [offset, { now, input, answer }] of past.entries()) {
    const again = await describeAnswer(await take({ number: offset + 1, now, input }), describing, outputRoom)
    if (again.type === 'lost') return again
    const reason = difference(answer, again)
    if (reason !== undefined) return { type: 'diverged', reason }
  }
  return step ? describeAnswer(await take(step), describing, outputRoom) : { type: 'repeated' }
}

/** For a value that is not there: what can't go on without it. */
function neededBy({ sha256 }: ValueRef, input: StepInput): string {
  if (input.type === 'cell') return `the code of cell ${input.cell}`
  const results = input.type === 'results' ? input.results : []
  const found = results.find(({ outcome }) => outcome.status === 'ok' && refOf(outcome.value)?.sha256 === sha256)
  return `the result of call ${found?.index ?? 0} of the session`
}
