import { Connection, defaultPayloadConverter, isGrpcServiceError } from '@temporalio/client'
import type { ErrorCode } from '../../common/errors.js'
import { encryptPayload } from '../../values/encryption/payload-codec.js'
import { makeMessagesWellFormed } from '../../values/well-formed-messages.js'
import type { WatchdogThreadData } from './protocol.js'
import type { WatchdogActions } from './stall-detector.js'

/** gRPC's NOT_FOUND. */
const notFound = 5
const requestTimeoutMs = 5_000
const blockedErrorCode: ErrorCode = 'TOOL_BLOCKED'

/** The requests of the thread to the server. */
export type ServerRequests = Pick<WatchdogActions, 'heartbeat' | 'fail'>

/** Connects to the server at once. */
export function serverRequests({
  namespace,
  identity,
  encryptionKey,
  connectionOptions,
}: WatchdogThreadData): ServerRequests {
  makeMessagesWellFormed()
  const connection = Connection.lazy(connectionOptions)
  connection.ensureConnected().catch(() => undefined)
  return {
    async heartbeat({ taskToken }, value) {
      const payload = defaultPayloadConverter.toPayload(value)
      const details = { payloads: [encryptionKey === undefined ? payload : encryptPayload(payload, encryptionKey)] }
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
