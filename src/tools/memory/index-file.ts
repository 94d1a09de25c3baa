import { z } from 'zod'
import { PtcError } from '../../common/errors.js'

/** A file of a scope. */
export interface MemoryFile {
  /** As {@link parsePath} returns it. */
  readonly path: string
  /** Last part of the name of the object with the content. Unique to one write. */
  readonly blob: string
  readonly bytes: number
  readonly sha256: string
}

/** A write that has happened, for a later attempt of the same call. */
interface RecordedCall {
  /** Digest of the idempotency key. */
  readonly key: string
  readonly result: string
}

/** What one version of an index says. */
export interface MemoryIndex {
  /** Absent in the index of an erased scope. */
  readonly scope?: string | undefined
  /** Milliseconds since 1970. */
  readonly changedAt: number
  /** In the order of their paths. */
  readonly files: readonly MemoryFile[]
  /** The newest is the last. */
  readonly calls: readonly RecordedCall[]
}

/** Attempts of a call are minutes apart. This many other writes of its scope may come between them. */
export const maxCalls = 256
/** Over what the largest limits allow. */
export const maxIndexBytes = 16 * 1024 * 1024

const indexSchema = z.object({
  format: z.literal(1),
  scope: z.string().optional(),
  changedAt: z.number(),
  files: z.array(
    z.object({
      path: z.string(),
      blob: z.string().regex(/^[0-9a-f-]{1,80}$/),
      bytes: z.int().min(0),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
  calls: z.array(z.object({ key: z.string(), result: z.string() })),
})

export function encodeIndex(index: MemoryIndex): Uint8Array {
  const files = [...index.files].sort((a, b) => (a.path < b.path ? -1 : 1))
  return Buffer.from(JSON.stringify({ format: 1, ...index, files, calls: index.calls.slice(-maxCalls) }))
}

/** @throws PtcError VALUE_CORRUPT */
export function decodeIndex(content: Uint8Array, name: string): MemoryIndex {
  try {
    const { format: _, ...index } = indexSchema.parse(JSON.parse(Buffer.from(content).toString('utf8')))
    return index
  } catch (cause) {
    throw new PtcError('VALUE_CORRUPT', `the index ${name} of a memory was changed: it can't be read`, { cause })
  }
}
