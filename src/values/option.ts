import { join, resolve } from 'node:path'
import { z } from 'zod'
import { PtcError } from '../common/errors.js'

export type StoreOption = LocalStoreOption | S3StoreOption

/** A folder, for one machine or for several with a shared disk. */
interface LocalStoreOption {
  readonly kind: 'local'
  /** Path, relative to the configuration. Default `.ptc/values`. */
  readonly directory?: string
}

/** An S3 bucket, for any number of machines. The AWS SDK finds the credentials: environment, profile, role. */
interface S3StoreOption {
  readonly kind: 's3'
  readonly bucket: string
  /** A folder in the bucket. */
  readonly prefix?: string
  /** Default: the region that the AWS SDK finds, for example in `AWS_REGION`. */
  readonly region?: string
  /** The address of a server that is not Amazon's. */
  readonly endpoint?: string
  /** Puts the bucket into the path instead of the host name, as most other servers need it. Default false. */
  readonly forcePathStyle?: boolean
}

/** Settings of a value store: validated, with defaults filled in. */
export type StoreSettings = LocalStoreSettings | S3StoreSettings

interface LocalStoreSettings {
  readonly kind: 'local'
  /** An absolute path. */
  readonly directory: string
}

/** Credentials are not part of the settings: the AWS SDK finds them in its standard places. */
export interface S3StoreSettings {
  readonly kind: 's3'
  readonly bucket: string
  /** Prefix of every key; empty, or ends with a slash. */
  readonly prefix: string
  /** Undefined: the AWS SDK determines it. */
  readonly region: string | undefined
  /** URL of a server other than Amazon's. */
  readonly endpoint: string | undefined
  /** When true, URLs are `host/bucket/key` in place of `bucket.host/key`. */
  readonly forcePathStyle: boolean
}

export interface ValuesSettings {
  /** Milliseconds to retry while the store is full or unavailable. Undefined: as `Values` does. Only tests set it. */
  readonly retryForMs?: number
  readonly store: StoreSettings
}

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

export const valuesOption = z.strictObject({ store: storeOption.prefault({ kind: 'local' }) })

/** @param folder folder of the configuration, the base of relative paths */
export function valuesSettings({ store }: z.output<typeof valuesOption>, folder: string): ValuesSettings {
  return { store: storeSettings(store, folder) }
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
