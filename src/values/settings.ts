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
  /** Maximum bytes of inline JSON. */
  readonly inlineBytes: number
  /** Milliseconds to retry while the store is full or unavailable. */
  readonly retryForMs: number
  readonly store: StoreSettings
}
