import { failpoint } from '../../common/failpoint.js'
import { metrics } from '../../common/telemetry/metrics.js'
import type { ExecuteStepResult, RecordedStep, RecordedSteps, Step, StepResult } from '../../common/session/steps.js'
import type { SessionRef } from '../../common/session/session.js'
import type { AttachOptions, SessionHost } from '../../sandbox/session/session-host.js'
import type { ActivityScope } from '../run-activity.js'
import { type DescribeOptions, inspectStepResult } from './describe-step-result.js'
import { findDivergence } from './divergence.js'
import { loadRecordedSteps } from './journal.js'
import { restoreSnapshot } from './snapshots.js'

/** @param onPrinted receives the end of the output of the step so far */
export type SendStep = (step: Step, onPrinted?: (text: string) => void) => Promise<StepResult>

interface RebuildOptions {
  readonly host: SessionHost
  readonly session: SessionRef
  readonly attachOptions: AttachOptions
  readonly describeOptions: DescribeOptions
  readonly scope: ActivityScope
  readonly sendStep: SendStep
}

type RepeatFailure = Extract<ExecuteStepResult, { type: 'lost' | 'diverged' }>
type RebuildFailure = RepeatFailure | Extract<ExecuteStepResult, { type: 'restore_failed' }>

/** Restores the snapshot, if there is one, and repeats the later steps. Returns undefined on success. */
export async function rebuildSession(
  options: RebuildOptions,
  recorded: RecordedSteps,
): Promise<RebuildFailure | undefined> {
  const failure = await restoreAndRepeat(options, recorded)
  metrics.add('ptc_session_rebuilds_total', 1, { result: failure?.type ?? 'rebuilt' })
  return failure
}

async function restoreAndRepeat(options: RebuildOptions, recorded: RecordedSteps): Promise<RebuildFailure | undefined> {
  const { host, session, attachOptions, scope, describeOptions } = options
  const { values, signal } = describeOptions
  const { snapshot } = recorded
  if (snapshot !== undefined) {
    const problem = await restoreSnapshot(host, values, session, snapshot, attachOptions, scope)
    if (problem !== undefined) return { type: 'restore_failed', reason: problem }
  }
  const steps = await loadRecordedSteps(values, recorded, signal)
  const failure = await repeatSteps(options, steps, (snapshot?.steps ?? 0) + 1)
  // A rebuild without the snapshot may succeed.
  return failure && snapshot ? { type: 'restore_failed', reason: failure.reason } : failure
}

async function repeatSteps(
  options: RebuildOptions,
  steps: readonly RecordedStep[],
  firstNumber: number,
): Promise<RepeatFailure | undefined> {
  let cell = 0
  for (const [offset, { result: recordedResult, interruptedAfterMs, ...repeated }] of steps.entries()) {
    if (repeated.input.type === 'cell') cell = repeated.input.cell
    const step = { number: firstNumber + offset, ...repeated }
    const result = await repeatStep(options, step, interruptedAfterMs)
    // The values of a repeated step are not stored: they were stored when the step was first executed.
    const inspected = await inspectStepResult(result, options.describeOptions)
    failpoint('step.repeated')
    if (inspected.type === 'lost') return inspected
    const divergence = findDivergence(recordedResult, inspected)
    if (divergence !== undefined) return { type: 'diverged', reason: `in cell ${cell}, ${divergence}` }
  }
  return undefined
}

/**
 * Repeats a step. An interrupted step is interrupted again; otherwise its code would continue to calls that it never
 * made before.
 */
async function repeatStep(
  { host, session, sendStep }: RebuildOptions,
  step: Step,
  interruptedAfterMs: number | undefined,
): Promise<StepResult> {
  if (interruptedAfterMs === undefined) return sendStep(step)
  const timer = setTimeout(() => void host.interrupt(session, step.number).catch(() => undefined), interruptedAfterMs)
  try {
    return await sendStep(step)
  } finally {
    clearTimeout(timer)
  }
}
