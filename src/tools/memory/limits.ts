import { z } from 'zod'
import { PtcError } from '../../common/errors.js'

/** What one scope may have. */
export interface MemoryLimits {
  /** Files. Default 100, at most 1,000. */
  readonly files?: number
  /** Bytes of one file. Default 64 KiB, at most 1 MiB. */
  readonly fileBytes?: number
  /** Bytes of all files together. Default 1 MiB, at most 64 MiB. */
  readonly totalBytes?: number
  /** Bytes of a path, with `/memories`. Default 256, at most 1,024. */
  readonly pathBytes?: number
}

const kibibyte = 1024

const memoryLimits = z.strictObject({
  files: z.int().min(1).max(1_000).default(100),
  fileBytes: z
    .int()
    .min(1)
    .max(1024 * kibibyte)
    .default(64 * kibibyte),
  totalBytes: z
    .int()
    .min(1)
    .max(64 * 1024 * kibibyte)
    .default(1024 * kibibyte),
  pathBytes: z.int().min(16).max(1_024).default(256),
})

export type ParsedLimits = Readonly<z.output<typeof memoryLimits>>

/** @throws PtcError CONFIG_INVALID */
export function parseLimits(limits: MemoryLimits): ParsedLimits {
  const parsed = memoryLimits.safeParse(limits)
  if (parsed.success) return parsed.data
  throw new PtcError('CONFIG_INVALID', `invalid limits of memory:\n${z.prettifyError(parsed.error)}`)
}
