import { Client, Connection } from '@temporalio/client'
import type { DataConverter } from '@temporalio/common'
import { messageOf, PtcError } from '../common/errors.js'
import type { TemporalServer } from '../worker/index.js'

const receiveBytes = 128 * 1024 * 1024

export type ServerToReach = Pick<TemporalServer, 'address' | 'namespace' | 'connectionOptions'>

/**
 * A connected client of Temporal; close its connection.
 *
 * @param dataConverter what `createDataConverter` made, where big inputs and results are to be had
 * @throws PtcError TEMPORAL_UNREACHABLE
 */
export async function connectClient(
  { address, namespace, connectionOptions }: ServerToReach,
  dataConverter?: DataConverter,
): Promise<Client> {
  const { tls, apiKey, metadata } = connectionOptions
  try {
    const connection = await Connection.connect({
      address,
      // The SDK means to set this and misses the prefix; at gRPC's default of 4 MiB a large history can't be read.
      channelArgs: { 'grpc.max_receive_message_length': receiveBytes },
      ...(tls === undefined ? {} : { tls }),
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(metadata === undefined ? {} : { metadata }),
    })
    return new Client({ connection, namespace, ...(dataConverter && { dataConverter }) })
  } catch (cause) {
    throw new PtcError('TEMPORAL_UNREACHABLE', `Temporal at ${address} does not answer: ${messageOf(cause)}`, {
      hint: 'Start it, or correct TEMPORAL_ADDRESS.',
      cause,
    })
  }
}
