import protobuf from 'protobufjs'

/**
 * The fields of a task token that a Temporal server needs to find a workflow task: `temporal.server.api.token.v1.Task`
 * in the server's repository (proto/internal/temporal/server/api/token/v1/message.proto). The message is not part of
 * the public API. A server that has changed it refuses the token, and the workflow task ends with its timeout.
 */
const taskToken = new protobuf.Type('Task')
  .add(new protobuf.Field('namespaceId', 1, 'string'))
  .add(new protobuf.Field('workflowId', 2, 'string'))
  .add(new protobuf.Field('runId', 3, 'string'))
  .add(new protobuf.Field('scheduledEventId', 4, 'int64'))
  .add(new protobuf.Field('attempt', 5, 'int32'))
  .add(new protobuf.Field('startedEventId', 10, 'int64'))
  .add(new protobuf.Field('version', 11, 'int64'))

/** A 64-bit number in the form of events. */
type Int64 = protobuf.Long | number | null | undefined

interface StartedWorkflowTask {
  readonly namespaceId: string
  readonly workflowId: string
  readonly runId: string
  readonly scheduledEventId: Int64
  readonly startedEventId: Int64
  /** Version of the event that the task was started. */
  readonly version: Int64
}

/** The token of the first attempt of a workflow task. Only the first attempt is in the history and can be failed. */
export function workflowTaskToken(task: StartedWorkflowTask): Uint8Array {
  return taskToken.encode({ ...task, attempt: 1 }).finish()
}
