import { S3Client } from '@aws-sdk/client-s3'
import { defined } from '../../common/defined.js'
import type { S3StoreSettings } from '../option.js'

const connectTimeoutMs = 5_000
const idleTimeoutMs = 30_000

/**
 * The client of a bucket. The AWS SDK finds the credentials.
 *
 * @param idleTimeout milliseconds after which a silent connection is closed
 */
export function createS3Client(settings: S3StoreSettings, idleTimeout = idleTimeoutMs): S3Client {
  const { region, endpoint, forcePathStyle } = settings
  return new S3Client({
    forcePathStyle,
    // Every read is verified against a digest, so a second checksum is not needed. The error of the first check is
    // better.
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: connectTimeoutMs, socketTimeout: idleTimeout },
    ...defined({ region, endpoint }),
  })
}

/** For messages: `the bucket b/prefix at http://…`. */
export function describeBucket({ bucket, prefix, endpoint }: S3StoreSettings): string {
  const server = endpoint === undefined ? '' : ` at ${withoutCredentials(endpoint)}`
  return `the bucket ${bucket}${prefix === '' ? '' : `/${prefix}`}${server}`
}

/** Removes the user name and the password that an endpoint URL may contain. */
function withoutCredentials(endpoint: string): string {
  const url = new URL(endpoint)
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`
}
