import { Runtime } from '@temporalio/worker'
import { EntryCodec, StreamPublisher } from '../../stream/index.js'
import type { ResourceOptions } from './open-resources.js'

interface OpenStream {
  readonly publisher: StreamPublisher
  /** Idempotent. */
  close(): Promise<void>
}

/** The live stream of a worker; undefined when the configuration has none. */
export function openStream({
  config: { stream: sink },
  namespace,
  dataConverter,
}: Pick<ResourceOptions, 'config' | 'namespace' | 'dataConverter'>): OpenStream | undefined {
  if (sink === undefined) return undefined
  const codec = new EntryCodec(dataConverter.payloadCodecs)
  const onTrouble = (message: string): void => Runtime.instance().logger.warn(message)
  const publisher = new StreamPublisher({ sink, namespace, codec, onTrouble })
  return {
    publisher,
    async close() {
      await publisher.close()
      await sink.close()
    },
  }
}
