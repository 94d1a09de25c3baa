import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { StoreSettings, ValuesSettings } from './settings.js'
import { PtcError } from '../common/errors.js'
import { durationOption } from '../platform/option-schemas.js'

const nonEmptyString = z.string().min(1)

const localStore = z.strictObject({ kind: z.literal('local'), directory: nonEmptyString.optional() })

const s3Store = z.strictObject({
  kind: z.literal('s3'),
  bucket: nonEmptyString.regex(
    /^(arn:.+|[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])$/,
    'must be the name of a bucket (3 to 63 of a-z, 0-9, dot and hyphen) or an ARN',
  ),
  prefix: z
    .string()
    .regex(/^(?!\/)/, 'must not begin with a slash')
    .default(''),
  region: nonEmptyString.optional(),
  endpoint: z
    .string()
    .refine(
      isEndpoint,
      'must be an http(s) address without user, password, query or fragment; the AWS SDK finds credentials',
    )
    .optional(),
  forcePathStyle: z.boolean().default(false),
})

const storeOption = z.discriminatedUnion('kind', [localStore, s3Store])

export const valuesOption = z.strictObject({
  inlineBytes: z.int().min(0).max(131_072, 'a history has room for 50 MB in all; at most 131,072').default(4_096),
  retryFor: durationOption('2m'),
  store: storeOption.prefault({ kind: 'local' }),
})

/** @param folder folder of the configuration, the base of relative paths */
export function valuesSettings(
  { inlineBytes, retryFor, store }: z.output<typeof valuesOption>,
  folder: string,
): ValuesSettings {
  return { inlineBytes, retryForMs: retryFor, store: storeSettings(store, folder) }
}

/** @throws PtcError CONFIG_INVALID */
export function parseStore(option: unknown, folder: string): StoreSettings {
  const parsed = storeOption.safeParse(option)
  if (parsed.success) return storeSettings(parsed.data, folder)
  throw new PtcError('CONFIG_INVALID', `invalid value store:\n${z.prettifyError(parsed.error)}`, {
    hint: 'docs/reference/configuration.md lists all options.',
  })
}

function storeSettings(store: z.output<typeof storeOption>, folder: string): StoreSettings {
  if (store.kind === 'local') return { kind: store.kind, directory: resolveDirectory(store.directory, folder) }
  const { kind, bucket, prefix, region, endpoint, forcePathStyle } = store
  const folderPrefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
  return { kind, bucket, prefix: folderPrefix, region, endpoint, forcePathStyle }
}

function resolveDirectory(directory: string | undefined, folder: string): string {
  return directory === undefined ? join(resolve(folder), '.ptc', 'values') : resolve(folder, directory)
}

function isEndpoint(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, username, password, search, hash } = new URL(address)
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '')
}
