import { S3ServiceException } from '@aws-sdk/client-s3'
import { expect, test } from 'vitest'
import { toS3StoreError } from './s3-store-errors.js'

test.each([
  ['QuotaExceeded', 403, 'VALUE_STORE_FULL', 'ptc values gc'],
  ['NoSuchBucket', 404, 'VALUE_STORE_REFUSED', 'Create the bucket'],
  ['PermanentRedirect', 301, 'VALUE_STORE_REFUSED', 'region'],
  ['AccessDenied', 403, 'VALUE_STORE_REFUSED', 'credentials'],
])('the error %s of S3 has a hint that helps', (name, httpStatusCode, code, hint) => {
  const thrown = new S3ServiceException({ name, $fault: 'client', $metadata: { httpStatusCode }, message: 'no' })
  expect(toS3StoreError(thrown, 'the bucket b')).toMatchObject({ code, hint: expect.stringContaining(hint) })
})
