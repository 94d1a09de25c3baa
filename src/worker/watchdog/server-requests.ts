import { Connection, defaultPayloadConverter, isGrpcServiceError } from '@temporalio/client'
import type { Payload } from '@temporalio/common'
import type { ErrorCode } from '../../common/errors.js'
import { encryptPayload } from '../../values/encryption/payload-codec.js'
import { makeMessagesWellFormed } from '../../values/well-formed-messages.js'
import type { WatchdogThreadData, WatchedActivity } from './protocol.js'
import type { WatchdogActions } from './stall-detector.js'

/** gRPC's NOT_FOUND. */
const notFound = 5
const requestTimeoutMs = 5_000
const blockedErrorCode: ErrorCode = 'TOOL_BLOCKED'

/** The requests of the thread to the server. */
export type ServerRequests = Pick<WatchdogActions, 'heartbeat' | 'fail'>

/** Connects to the server at once. */
export function serverRequests(data: WatchdogThreadData): ServerRequests {
  const { namespace, identity, connectionOptions } = data
  makeMessagesWellFormed()
  const connection = Connection.lazy(connectionOptions)
  connection.ensureConnected().catch(() => undefined)
  return {
    async heartbeat(activity, value) {
      const { taskToken } = activity
      const details = { payloads: payloadsOf(data, activity, value) }
      try {
        const { cancelRequested } = await connection.withDeadline(Date.now() + requestTimeoutMs, () =>
          connection.workflowService.recordActivityTaskHeartbeat({ namespace, identity, taskToken, details }),
        )
        return cancelRequested ? 'CANCELLED' : 'ok'
      } catch (thrown) {
        const code: number | undefined = isGrpcServiceError(thrown) ? thrown.code : undefined
        if (code === notFound) return 'NOT_FOUND'
        throw thrown
      }
    },
    async fail({ taskToken }, message) {
      const failure = {
        message,
        source: 'durable-ptc',
        applicationFailureInfo: { type: blockedErrorCode, nonRetryable: true },
      }
      await connection.workflowService.respondActivityTaskFailed({ namespace, identity, taskToken, failure })
    },
  }
}

/**
 * Details that the codec of the user has encoded have no note.
 *
 * @throws Error when the main thread has not encoded the details yet: a heartbeat without them would clear earlier ones
 */
function payloadsOf(
  { hasUserCodec, encryptionKey }: WatchdogThreadData,
  { details, encoded }: WatchedActivity,
  value: unknown,
): Payload[] {
  if (hasUserCodec) {
    if (details !== undefined && !encoded) throw new Error('the details are not encoded yet')
    return encoded ? [encoded] : []
  }
  const payload = defaultPayloadConverter.toPayload(value)
  return [encryptionKey === undefined ? payload : encryptPayload(payload, encryptionKey)]
}
