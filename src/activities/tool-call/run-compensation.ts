import { lostWorkerRetries } from '../../common/calls/calls.js'
import { type CompensateInput, compensationAttempts, compensationKey } from '../../common/calls/compensation.js'
import { PtcError } from '../../common/errors.js'
import { failpoint } from '../../common/failpoint.js'
import { compensationActivity } from '../../common/names.js'
import { requesterOf } from '../../common/run/requester.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import type { Credentials } from '../../tools/credentials/credentials.js'
import { runCompensation } from '../../tools/calls/run-compensation.js'
import type { EventSinks } from '../observe.js'
import type { ActivityParts } from '../run-activity.js'
import { describeAttempt } from './attempt-report.js'
import type { LatestAttempts } from './latest-attempts.js'
import { observeCompensation } from './observe-call.js'
import { loadArguments } from './prepare-arguments.js'
import { runAttempts } from './run-attempts.js'

/** Shared by all compensations of a worker. */
interface CompensationParts extends ActivityParts, EventSinks {
  readonly latest: LatestAttempts
  readonly credentials?: Credentials | undefined
}

/**
 * Returns true for the input of activity `TOOL.compensate`. Workflows of a user may schedule an activity of any type.
 */
export function isCompensation(input: unknown, activityType: string): input is CompensateInput {
  return (
    typeof input === 'object' &&
    input !== null &&
    'idempotencyKey' in input &&
    'tool' in input &&
    typeof input.tool === 'string' &&
    compensationActivity(input.tool) === activityType
  )
}

/** Activity `TOOL.compensate`: undoes the effect of a call. */
export function compensate(
  { registry, values, latest, credentials, ...sinks }: CompensationParts,
  { name, attempts, timeoutMs }: ToolConfig,
  { agent, context: runContext = {}, ...call }: CompensateInput,
): Promise<void> {
  const limit = compensationAttempts(attempts)
  const key = compensationKey(call.idempotencyKey)
  const describe = (attempt: number) => describeAttempt(call, attempt, { attempts: limit, timeoutMs }, registry)
  return runAttempts({ limit, describe, agent, runContext, credentials }, async (scope, { attempt, context }) => {
    const { signal } = scope
    if (attempt > limit + lostWorkerRetries) {
      throw new PtcError('TOOL_LOST', `the compensation of ${name} was lost with its worker in each attempt`)
    }
    failpoint('compensation.begins')
    await latest.claim(key, scope.attempt, signal)
    const args = await loadArguments(values, call, signal)
    const result =
      call.result === undefined ? undefined : await values.load(call.result, `the result of ${name}`, signal)
    await observeCompensation(sinks, call, { ...scope, requester: requesterOf(runContext) }, () =>
      runCompensation(registry, { ...call, arguments: args, result }, context),
    )
    failpoint('compensation.ran')
  })
}
