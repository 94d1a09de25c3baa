import { isGrpcServiceError } from '@temporalio/client'
import type { NativeConnection } from '@temporalio/worker'

/** gRPC's NOT_FOUND. */
const notFound = 5

/**
 * Owner label of this namespace's sandboxes: its name and id. The name alone is ambiguous: two servers that share a
 * Docker daemon may both have a namespace `default`.
 */
export async function sandboxOwner({ workflowService }: NativeConnection, namespace: string): Promise<string> {
  const { namespaceInfo } = await workflowService.describeNamespace({ namespace })
  return `${namespace}.${namespaceInfo?.id ?? ''}`
}

/** True if the latest execution of this workflow is running. */
export async function isWorkflowRunning(
  { workflowService }: NativeConnection,
  namespace: string,
  workflowId: string,
): Promise<boolean> {
  try {
    const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId },
    })
    return workflowExecutionInfo?.closeTime == null
  } catch (thrown) {
    const code: number | undefined = isGrpcServiceError(thrown) ? thrown.code : undefined
    if (code === notFound) return false
    throw thrown
  }
}
