import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { StoreSettings, ValuesSettings } from '../../values/settings.js'
import { PtcError } from '../../common/errors.js'
import { durationOption } from './duration-option.js'

const text = z.string().min(1)

const local = z.strictObject({ kind: z.literal('local'), directory: text.optional() })

const s3 = z.strictObject({
  kind: z.literal('s3'),
  bucket: text.regex(
    /^(arn:.+|[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])$/,
    'must be the name of a bucket (3 to 63 of a-z, 0-9, dot and hyphen) or an ARN',
  ),
  prefix: z
    .string()
    .regex(/^(?!\/)/, 'must not begin with a slash')
    .default(''),
  region: text.optional(),
  endpoint: z
    .string()
    .refine(
      isEndpoint,
      'must be an http(s) address without user, password, query or fragment; the AWS SDK finds credentials',
    )
    .optional(),
  forcePathStyle: z.boolean().default(false),
})

const storeOption = z.discriminatedUnion('kind', [local, s3])

/** What `values` of a configuration may say. */
export const valuesOption = z.strictObject({
  inlineBytes: z.int().min(0).max(131_072, 'a history has room for 50 MB in all; at most 131,072').default(4_096),
  patience: durationOption('2m'),
  store: storeOption.prefault({ kind: 'local' }),
})

/** @param folder the configuration's: relative folders begin there */
export function valuesSettings(
  { inlineBytes, patience, store }: z.output<typeof valuesOption>,
  folder: string,
): ValuesSettings {
  return { inlineBytes, patienceMs: patience, store: storeSettings(store, folder) }
}

/** @throws PtcError CONFIG_INVALID */
export function parseStore(option: unknown, folder: string): StoreSettings {
  const parsed = storeOption.safeParse(option)
  if (parsed.success) return storeSettings(parsed.data, folder)
  throw new PtcError('CONFIG_INVALID', `this is no store for values:\n${z.prettifyError(parsed.error)}`, {
    hint: 'See "Configuration" in the README.',
  })
}

function storeSettings(store: z.output<typeof storeOption>, folder: string): StoreSettings {
  if (store.kind === 'local') return { kind: store.kind, directory: directoryOf(store.directory, folder) }
  const { kind, bucket, prefix, region, endpoint, forcePathStyle } = store
  const folderPrefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
  return { kind, bucket, prefix: folderPrefix, region, endpoint, forcePathStyle }
}

function directoryOf(directory: string | undefined, folder: string): string {
  return directory === undefined ? join(resolve(folder), '.ptc', 'values') : resolve(folder, directory)
}

function isEndpoint(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, username, password, search, hash } = new URL(address)
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '')
}
