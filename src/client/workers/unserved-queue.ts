import type { FailingActivity, UnservedEndpoint, UnservedQueue } from './unserved.js'
import { formatDuration } from '../../common/text/format.js'
import { pluralize, toPlainLine, truncateMiddle } from '../../common/text/text.js'

/** Maximum characters of a failure that another worker has written. */
const maxReasonCharacters = 500

/** `waitingSince` is undefined when no task waits on the queue. */
type UnservedQueueStatus = Omit<UnservedQueue, 'waitingSince'> & { readonly waitingSince: number | undefined }

/**
 * Describes a task queue that no worker polls, the time, and a remedy; or why a Nexus operation does not start, or an
 * activity fails. A worker without a free slot does not poll either, so the text does not claim that no worker runs.
 *
 * @param now milliseconds since the epoch
 */
export function describeUnserved(
  unserved: UnservedQueueStatus | UnservedEndpoint | FailingActivity,
  now: number,
): string {
  if ('activity' in unserved) return describeFailing(unserved)
  return 'endpoint' in unserved ? describeEndpoint(unserved, now) : describeQueue(unserved, now)
}

function describeEndpoint(
  { endpoint, operation, waitingSince, attempts, reason }: UnservedEndpoint,
  now: number,
): string {
  const waited = `waiting for ${formatDuration(now - waitingSince)}, ${pluralize(attempts, 'attempt')}`
  const subject = `Nexus endpoint ${toPlainLine(endpoint)} has not started ${toPlainLine(operation)}`
  return `${subject}: ${waited}, the last failed: ${shorten(reason)}`
}

function describeFailing({ activity, failedAttempts, reason }: FailingActivity): string {
  const name = toPlainLine(activity)
  if (failedAttempts === 0) return `${name} waits, and tries again by itself: ${shorten(reason)}`
  const attempts = pluralize(failedAttempts, 'attempt')
  return `${name} is tried again: ${attempts} failed, the last one: ${shorten(reason)}`
}

function shorten(reason: string): string {
  return truncateMiddle(toPlainLine(reason), maxReasonCharacters)
}

function describeQueue(
  { taskQueue, namespace, role, sandbox = 'auto', waitingType, waitingSince, lastPolledAt }: UnservedQueueStatus,
  now: number,
): string {
  const polled =
    lastPolledAt === undefined ? 'no poll in the last 5 minutes' : `last poll ${formatDuration(now - lastPolledAt)} ago`
  const remedy =
    waitingType !== undefined
      ? `start the worker that has ${toPlainLine(waitingType)}`
      : role === undefined
        ? 'its sandbox host is gone or busy'
        : sandbox === 'docker'
          ? 'start Docker and restart the worker, or start a worker where Docker runs'
          : `\`ptc worker --roles ${role}\` starts one${sandbox === 'auto' ? '' : ' where it has this sandbox'}`
  const waited = waitingSince === undefined ? '' : `waiting for ${formatDuration(now - waitingSince)}, `
  const queue = toPlainLine(taskQueue) + (namespace === undefined ? '' : ` in namespace ${toPlainLine(namespace)}`)
  const worker = sandbox === 'auto' ? 'no worker' : `no worker with the sandbox ${toPlainLine(sandbox)}`
  return `${worker} takes tasks from ${queue}: ${waited}${polled}; ${remedy}`
}
