import { ExternalStorageNotConfiguredError } from '@temporalio/common'
import { isGrpcServiceError, ServiceError, WorkflowNotFoundError } from '@temporalio/client'
import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { isEncryptionError, notDecrypted } from './encrypted-payloads.js'

/** The gRPC status codes that get special treatment. */
const grpcCodes = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const

const transientCodes: readonly number[] = [
  grpcCodes.cancelled,
  grpcCodes.unknown,
  grpcCodes.deadlineExceeded,
  grpcCodes.resourceExhausted,
  grpcCodes.aborted,
  grpcCodes.internal,
  grpcCodes.unavailable,
]

/**
 * Returns whether the same request may succeed later. This includes CANCELLED, which is also the status of an aborted
 * request: callers check their own signal first.
 */
export function isTransient(thrown: unknown): boolean {
  const code = grpcCode(thrown)
  return code !== undefined && transientCodes.includes(code)
}

/**
 * Returns whether the server rejected a query because no worker has polled the task queue recently, or an update
 * because the workflow task of its run has failed, or timed out, three times.
 */
export function isFailedPrecondition(thrown: unknown): boolean {
  return grpcCode(thrown) === grpcCodes.failedPrecondition
}

/** Returns whether the server did not understand the request. */
export function isInvalidArgument(thrown: unknown): boolean {
  return grpcCode(thrown) === grpcCodes.invalidArgument
}

/**
 * Maps an error of Temporal's client to a PtcError.
 *
 * @param action the failed action, such as "start a run"
 * @param workflowId the run that the request was about, if any
 */
export function temporalError(thrown: unknown, action: string, workflowId?: string): PtcError {
  if (PtcError.isInstance(thrown)) return thrown
  if (isEncryptionError(thrown)) return notDecrypted()
  const error = (code: PtcError['code'], message: string, hint?: string): PtcError =>
    new PtcError(code, message, { cause: thrown, ...defined({ hint }) })
  const code = grpcCode(thrown)
  if (workflowId !== undefined && (thrown instanceof WorkflowNotFoundError || code === grpcCodes.notFound)) {
    return error('TEMPORAL_NOT_FOUND', `there is no run ${workflowId}`, '`ptc list` shows the runs there are.')
  }
  const message = `can't ${action}: ${detailsOf(thrown)}`
  if (thrown instanceof ExternalStorageNotConfiguredError) {
    return error(
      'VALUE_STORE_UNKNOWN',
      `can't ${action}: a part of it is in the value store, which this client does not know`,
      dataConverterHint,
    )
  }
  switch (code) {
    case grpcCodes.notFound:
      return error('TEMPORAL_NOT_FOUND', message)
    case grpcCodes.invalidArgument:
      return error('RUN_INPUT_INVALID', message)
    case grpcCodes.permissionDenied:
    case grpcCodes.unauthenticated:
      return error('TEMPORAL_UNREACHABLE', message, 'Check TEMPORAL_API_KEY and the TLS settings of the profile.')
    case grpcCodes.unavailable:
    case grpcCodes.deadlineExceeded:
      return error('TEMPORAL_UNREACHABLE', message, 'Is the Temporal server still there? `ptc doctor` looks.')
    case undefined:
    default:
      return error('INTERNAL', message)
  }
}

function grpcCode(thrown: unknown): number | undefined {
  const error = thrown instanceof ServiceError ? thrown.cause : thrown
  return isGrpcServiceError(error) ? error.code : undefined
}

/** Returns the details of a gRPC error. Its message begins with the code, its details do not. */
function detailsOf(thrown: unknown): string {
  const error = thrown instanceof ServiceError ? thrown.cause : thrown
  return describeConnection(isGrpcServiceError(error) && error.details !== '' ? error.details : messageOf(error))
}

/** Describes a missing connection. The message of the gRPC library ends with an empty note. */
function describeConnection(details: string): string {
  const [, cause, note] =
    /^No connection established\. Last error: (?:Error: )?(.*?)\. Resolution note: (.*)$/s.exec(details) ?? []
  if (cause === undefined) return details
  return `there is no connection: ${cause}${note === undefined || note === '' ? '' : ` (${note})`}`
}

/** The hint for a client without external storage. */
export const dataConverterHint =
  'Pass the result of createDataConverter (durable-ptc/client) to the Temporal client as its dataConverter.'
