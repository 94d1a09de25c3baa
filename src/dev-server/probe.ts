import { connect } from 'node:net'
import { Connection } from '@temporalio/client'
import type { ClientConnectConfig } from '@temporalio/envconfig'
import { defined } from '../common/defined.js'

/** Options of both `Connection.connect` and `NativeConnection.connect`. */
export type TemporalConnectionOptions = ClientConnectConfig['connectionOptions']

/**
 * Resolves when the server describes the namespace.
 *
 * @throws the SDK's error when it does not within `timeoutMs`, or has no such namespace
 */
export async function probeNamespace(
  connectionOptions: TemporalConnectionOptions,
  namespace: string,
  timeoutMs: number,
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  const { address, tls, apiKey, metadata } = connectionOptions
  const connection = await Connection.connect({
    ...defined({ address, tls, apiKey, metadata }),
    connectTimeout: timeoutMs,
  })
  try {
    await connection.withDeadline(deadline, () => connection.workflowService.describeNamespace({ namespace }))
  } finally {
    await connection.close()
  }
}

/** Resolves when `host:port` accepts a connection; rejects otherwise. */
export function probeTcp(address: string): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`)
  return new Promise((settle, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.destroy()
      settle()
    })
    socket.once('error', reject)
  })
}
