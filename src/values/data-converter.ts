import type { DataConverter } from '@temporalio/common'
import type { KeyRing } from './encryption/key-ring.js'
import { EncryptionCodec } from './encryption/payload-codec.js'
import { addPayloadStorage, type PayloadStorageOptions } from './payload-storage.js'

interface ConverterOptions extends Omit<PayloadStorageOptions, 'codec'> {
  /** The keys that encrypt payloads. Undefined: payloads are not encrypted. */
  readonly keys: KeyRing | undefined
}

/**
 * Adds durable-ptc's encryption, after the existing codecs, and the value store as external storage to a data
 * converter. Idempotent: the plugin of a connection gets the options of its workers and clients again.
 */
export function extendDataConverter(
  existing: DataConverter | undefined,
  { keys, ...storage }: ConverterOptions,
): DataConverter {
  const codecs = existing?.payloadCodecs ?? []
  const present = codecs.find((each) => each instanceof EncryptionCodec)
  const codec = present ?? (keys && new EncryptionCodec(keys, storage.toError))
  return {
    ...existing,
    ...(codec && { payloadCodecs: present ? codecs : [...codecs, codec] }),
    externalStorage: addPayloadStorage(existing?.externalStorage, { ...storage, codec }),
  }
}
