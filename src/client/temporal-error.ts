import { ExternalStorageNotConfiguredError } from '@temporalio/common'
import {
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/client'
import { messageOf, PtcError } from '../common/errors.js'
import { storeHint } from './start-options.js'

/** The gRPC codes we tell apart; the full list is in grpc's status codes. */
const grpc = {
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

const passing: readonly number[] = [
  grpc.cancelled,
  grpc.unknown,
  grpc.deadlineExceeded,
  grpc.resourceExhausted,
  grpc.aborted,
  grpc.internal,
  grpc.unavailable,
]

/** Could the same request succeed when the server is back? */
export function mayPass(thrown: unknown): boolean {
  const code = grpcCode(thrown)
  return code !== undefined && passing.includes(code)
}

/** Is it the server's answer to a query when no worker has polled the task queue for a while? */
export function saysNoPoller(thrown: unknown): boolean {
  return grpcCode(thrown) === grpc.failedPrecondition
}

/**
 * What Temporal's client threw, as an error of ours.
 *
 * @param doing what was tried, such as "start a run"
 * @param workflowId the run it was about, if it was about one
 */
export function temporalError(thrown: unknown, doing: string, workflowId?: string): PtcError {
  if (PtcError.isInstance(thrown)) return thrown
  const refuse = (code: PtcError['code'], message: string, hint?: string): PtcError =>
    new PtcError(code, message, { cause: thrown, ...(hint === undefined ? {} : { hint }) })
  const code = grpcCode(thrown)
  if (workflowId !== undefined && (thrown instanceof WorkflowNotFoundError || code === grpc.notFound)) {
    return refuse('TEMPORAL_NOT_FOUND', `there is no run ${workflowId}`, '`ptc list` shows the runs there are.')
  }
  if (thrown instanceof WorkflowExecutionAlreadyStartedError) {
    return refuse('RUN_EXISTS', `there is already a run ${thrown.workflowId}`, 'Choose another id, or none.')
  }
  const message = `can't ${doing}: ${detailsOf(thrown)}`
  if (thrown instanceof ExternalStorageNotConfiguredError) {
    return refuse(
      'VALUE_STORE_UNKNOWN',
      `can't ${doing}: a part of it is in the value store, which this client does not know`,
      storeHint,
    )
  }
  switch (code) {
    case grpc.notFound:
      return refuse('TEMPORAL_NOT_FOUND', message)
    case grpc.invalidArgument:
      return refuse('RUN_INPUT_INVALID', message)
    case grpc.permissionDenied:
    case grpc.unauthenticated:
      return refuse('TEMPORAL_UNREACHABLE', message, 'Check TEMPORAL_API_KEY and the TLS settings of the profile.')
    case grpc.unavailable:
    case grpc.deadlineExceeded:
      return refuse('TEMPORAL_UNREACHABLE', message, 'Is the Temporal server still there? `ptc doctor` looks.')
    case undefined:
    default:
      return refuse('INTERNAL', message)
  }
}

function grpcCode(thrown: unknown): number | undefined {
  const error = thrown instanceof ServiceError ? thrown.cause : thrown
  return isGrpcServiceError(error) ? error.code : undefined
}

/** gRPC's own messages begin with the code; the details are for people. */
function detailsOf(thrown: unknown): string {
  const error = thrown instanceof ServiceError ? thrown.cause : thrown
  return isGrpcServiceError(error) && error.details !== '' ? error.details : messageOf(error)
}
