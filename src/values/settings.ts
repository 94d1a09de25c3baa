/** Where values are kept, checked and with every default filled in. */
export type StoreSettings = LocalStoreSettings | S3StoreSettings

export interface LocalStoreSettings {
  readonly kind: 'local'
  /** Absolute. */
  readonly directory: string
}

/** Credentials are no setting: the AWS SDK finds them where it always does. */
export interface S3StoreSettings {
  readonly kind: 's3'
  readonly bucket: string
  /** Stands before every key; empty, or ends with a slash. */
  readonly prefix: string
  /** Default: as the AWS SDK finds it. */
  readonly region: string | undefined
  /** A server other than Amazon's. */
  readonly endpoint: string | undefined
  /** `host/bucket/key` instead of `bucket.host/key`. */
  readonly forcePathStyle: boolean
}

export interface ValuesSettings {
  /** The biggest JSON, in bytes, that travels in place. */
  readonly inlineBytes: number
  /** How long a store that is full or does not answer is tried again, in milliseconds. */
  readonly patienceMs: number
  readonly store: StoreSettings
}
