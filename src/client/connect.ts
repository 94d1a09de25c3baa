import { Client, type ClientPlugin, Connection } from '@temporalio/client'
import type { DataConverter } from '@temporalio/common'
import { defined } from '../common/defined.js'
import { messageOf, PtcError } from '../common/errors.js'
import type { ClientConnectConfig } from '@temporalio/envconfig'

const maxReceiveBytes = 128 * 1024 * 1024

/** How a client connects to a Temporal server. */
interface ConnectConfig {
  /** `host:port` of its gRPC service. */
  readonly address: string
  readonly namespace: string
  /** TLS options and API key of a profile. */
  readonly connectionOptions: ClientConnectConfig['connectionOptions']
}

/**
 * Connects a Temporal client; the caller closes its connection.
 *
 * @param plugins plugins of the client, for example for traces
 * @param dataConverter the result of `createDataConverter`, to start and read runs with payloads in the value store
 * @throws PtcError TEMPORAL_UNREACHABLE
 */
export async function connectClient(
  { address, namespace, connectionOptions }: ConnectConfig,
  dataConverter?: DataConverter,
  plugins: readonly ClientPlugin[] = [],
): Promise<Client> {
  const { tls, apiKey, metadata } = connectionOptions
  try {
    const connection = await Connection.connect({
      address,
      // The SDK sets this option without its prefix. With gRPC's default of 4 MiB, a large history can't be read.
      channelArgs: { 'grpc.max_receive_message_length': maxReceiveBytes },
      ...defined({ tls, apiKey, metadata }),
    })
    return new Client({ connection, namespace, plugins: [...plugins], ...defined({ dataConverter }) })
  } catch (cause) {
    throw new PtcError('TEMPORAL_UNREACHABLE', `Temporal at ${address} does not respond: ${messageOf(cause)}`, {
      hint: 'Start it, or correct TEMPORAL_ADDRESS.',
      cause,
    })
  }
}
