import { randomUUID } from 'node:crypto'
import type { Client } from '@temporalio/client'
import type { DataConverter } from '@temporalio/common'
import { TestWorkflowEnvironment } from '@temporalio/testing'
import { inject, onTestFinished, test } from 'vitest'
import { connectClient as connect } from '../../../src/client/connect.js'

/** The Temporal server that all tests share. Names must be unique, and lists may contain runs of other tests. */
export function sharedServer(): { readonly address: string; readonly namespace: string } {
  const server = inject('temporal')
  return { ...server, namespace: ownNamespace ?? server.namespace }
}

/** Test files that are not isolated share this module, so the namespace must end with its tests. */
let ownNamespace: string | undefined

/**
 * Gives tests their own namespace on the shared server: for `beforeAll` or `beforeEach`, which call the returned
 * function after the tests. Garbage collection reads every run of a namespace, and refuses to remove anything when a
 * run is encrypted with a key that it does not have. The namespace has no search attributes.
 */
export async function useOwnNamespace(): Promise<() => void> {
  const { connection, workflowService } = await connectClient()
  const namespace = uniqueName('namespace')
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: 86_400 as never } })
  await connection.close()
  ownNamespace = namespace
  return () => {
    ownNamespace = undefined
  }
}

/**
 * A client of the shared server or of another one. Close its connection, or use {@link temporalTest}, which closes it.
 */
export function connectClient(dataConverter?: DataConverter, address = sharedServer().address): Promise<Client> {
  const { namespace } = sharedServer()
  return connect({ address, namespace, connectionOptions: { address } }, dataConverter)
}

/** A unique name for a task queue or a workflow. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomUUID()}`
}

/** vitest's `test` with Temporal's test environment on the shared server (one for each file), and unique names. */
export const temporalTest = test
  .extend('server', { scope: 'file' }, () => sharedServer())
  .extend('temporal', { scope: 'file' }, async ({ server }, { onCleanup }) => {
    const temporal = await TestWorkflowEnvironment.createFromExistingServer(server)
    onCleanup(() => temporal.teardown())
    return temporal
  })
  .extend('client', { scope: 'file' }, ({ temporal }) => temporal.client)
  .extend('nativeConnection', { scope: 'file' }, ({ temporal }) => temporal.nativeConnection)
  .extend('taskQueue', () => uniqueName('queue'))
  .extend('workflowId', () => uniqueName('workflow'))

/** Terminates a workflow at the end of the test, so that it does not stay open on the shared server. */
export function terminateAfterTest(client: Client, workflowId: string): void {
  onTestFinished(async () => {
    // Most workflows have completed at that time.
    await client.workflow
      .getHandle(workflowId)
      .terminate('the test has ended')
      .catch(() => {})
  })
}
