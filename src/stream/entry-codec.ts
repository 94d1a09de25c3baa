import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common'
import { z } from 'zod'
import { PtcError } from '../common/errors.js'
import type { StreamRecord } from './events.js'

const bytes = z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64')))

const encodedEntry = z.object({ metadata: z.record(z.string(), bytes), data: bytes })

// A record of one of this package's workers. A later version may have more types of data.
const record = z.object({
  runId: z.string(),
  unit: z.string(),
  epoch: z.int(),
  attempt: z.int(),
  number: z.int(),
  time: z.number(),
  data: z.looseObject({ type: z.string() }),
})

/**
 * Converts records to entries and back. With codecs, such as that of the option `encryption`, an entry has an encoded
 * Temporal payload: data that is encrypted in histories is encrypted in streams.
 */
export class EntryCodec {
  readonly #codecs: readonly PayloadCodec[]

  /** @param codecs of the data converter of workers and client */
  constructor(codecs: readonly PayloadCodec[] = []) {
    this.#codecs = codecs
  }

  async encode(value: StreamRecord): Promise<string> {
    if (this.#codecs.length === 0) return JSON.stringify(value)
    let payloads: Payload[] = [defaultPayloadConverter.toPayload(value)]
    for (const codec of this.#codecs) payloads = await codec.encode(payloads)
    const [payload] = payloads
    const metadata = Object.entries(payload?.metadata ?? {}).map(([key, part]) => [key, toBase64(part)] as const)
    return JSON.stringify({ metadata: Object.fromEntries(metadata), data: toBase64(payload?.data) })
  }

  /**
   * @returns undefined for a text that is not a valid entry, such as one that a full disk has cut
   * @throws PtcError ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED; what another codec throws
   */
  async decode(text: string): Promise<StreamRecord | undefined> {
    const value = parseJson(text)
    const encoded = encodedEntry.safeParse(value)
    const parsed = record.safeParse(encoded.success ? await this.#decodePayload(encoded.data) : value)
    return parsed.success ? (parsed.data as StreamRecord) : undefined
  }

  async #decodePayload(payload: Payload): Promise<unknown> {
    if (this.#codecs.length === 0) {
      throw new PtcError('ENCRYPTION_KEY_UNAVAILABLE', 'the stream is encrypted', {
        hint: 'Give the data converter of the client the `encryption` of the workers.',
      })
    }
    let payloads = [payload]
    for (const codec of this.#codecs.toReversed()) payloads = await codec.decode(payloads)
    return defaultPayloadConverter.fromPayload(payloads[0] ?? payload)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toBase64(part: Uint8Array | null | undefined): string {
  return Buffer.from(part ?? []).toString('base64')
}
