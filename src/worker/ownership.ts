import { isGrpcServiceError } from '@temporalio/client'
import type { NativeConnection } from '@temporalio/worker'

/** gRPC's NOT_FOUND. */
const notFound = 5

/**
 * Who sandboxes of this namespace belong to. The name alone is no owner: two servers that share a Docker daemon both have a
 * namespace called `default`.
 */
export async function sandboxOwner({ workflowService }: NativeConnection, namespace: string): Promise<string> {
  const { namespaceInfo } = await workflowService.describeNamespace({ namespace })
  return `${namespace}.${namespaceInfo?.id ?? ''}`
}

/** Is the latest run of this workflow under way? */
export async function isRunning(
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
