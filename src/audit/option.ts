import { resolve } from 'node:path'
import { z } from 'zod'
import type { AuditSink } from './index.js'

/** The target of the audit log. */
export type AuditOption = { readonly includesCode?: boolean } & (
  | {
      /** Path of a file of JSON lines, relative to the configuration. */
      readonly file: string
    }
  | {
      /** `openTelemetryAuditSink(logger)`, or your own sink. */
      readonly sink: AuditSink
    }
)

export interface AuditSettings {
  /** Path of a file, or the user's sink. */
  readonly target: string | AuditSink
  readonly includesCode: boolean
}

const isSink = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'write' in value && typeof value.write === 'function'

const includesCode = z.boolean().default(false)

export const auditOption = z.union([
  z.strictObject({ file: z.string().min(1), includesCode }),
  z.strictObject({ sink: z.custom<AuditSink>(isSink, 'must have a method write'), includesCode }),
])

/** @param folder folder of the configuration, the base of relative paths */
export function auditSettings(option: z.output<typeof auditOption>, folder: string): AuditSettings {
  const { includesCode } = option
  return { target: 'file' in option ? resolve(folder, option.file) : option.sink, includesCode }
}
