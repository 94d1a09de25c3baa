import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowFailedError,
} from '@temporalio/client'
import { describe, expect, it } from 'vitest'
import { runError } from './run-error.js'

const failedBy = (cause: Error) => new WorkflowFailedError('Workflow execution failed', cause, 'NON_RETRYABLE_FAILURE')
const inActivity = (type: string, cause: Error) =>
  new ActivityFailure('Activity task failed', type, 'id', 'NON_RETRYABLE_FAILURE', undefined, cause)

describe('runError', () => {
  it('the error of a run has the code and message of the innermost failure', () => {
    const root = ApplicationFailure.create({ message: 'the key is wrong. Set it.', type: 'MODEL_AUTH' })
    expect(runError(failedBy(inActivity('model.turn', root)), 'run-1')).toMatchObject({
      code: 'MODEL_AUTH',
      message: 'the key is wrong. Set it.',
    })
  })

  it.each([undefined, 'toString', 'SomebodyElsesError'])('runError maps a failure of type %s to INTERNAL', (type) => {
    const root = ApplicationFailure.create({ message: 'oops', ...(type === undefined ? {} : { type }) })
    expect(runError(failedBy(root), 'run-1')).toMatchObject({ code: 'INTERNAL', message: 'oops' })
  })

  it.each([
    ['model.turn', 'MODEL_TIMEOUT'],
    ['session.open', 'SANDBOX_LOST'],
  ])('the error of a run names the activity that timed out: %s', (activity, code) => {
    const root = new TimeoutFailure('activity Heartbeat timeout', undefined, 'HEARTBEAT')
    const error = runError(failedBy(inActivity(activity, root)), 'run-1')
    expect(error).toMatchObject({ code, message: `${activity} timed out (HEARTBEAT)` })
  })

  it('runError distinguishes cancelled, terminated and timed-out runs', () => {
    expect(runError(failedBy(new CancelledFailure('Workflow canceled')), 'run-1').code).toBe('RUN_CANCELLED')
    expect(runError(failedBy(new TerminatedFailure('by hand')), 'run-1')).toMatchObject({
      code: 'RUN_TERMINATED',
      message: 'run run-1 was terminated: by hand',
    })
    const timeout = new TimeoutFailure('Workflow execution timed out', undefined, 'START_TO_CLOSE')
    expect(runError(failedBy(timeout), 'run-1').code).toBe('RUN_TIMED_OUT')
  })
})
