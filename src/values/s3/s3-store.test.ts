import { CopyObjectCommand, HeadObjectCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { afterEach, expect, test, vi } from 'vitest'
import { S3Store } from './s3-store.js'

afterEach(() => vi.restoreAllMocks())

test('the S3 store uploads a large value that is removed between the check and the renewal', async () => {
  const value = new Uint8Array(9 * 1024 * 1024)
  vi.spyOn(S3Client.prototype, 'send').mockImplementation((command: unknown): unknown => {
    if (command instanceof HeadObjectCommand) {
      return Promise.resolve({ ContentLength: value.length, LastModified: new Date(0) })
    }
    expect(command).toBeInstanceOf(CopyObjectCommand)
    const details = { $fault: 'client', $metadata: { httpStatusCode: 404 }, message: 'gone' } as const
    return Promise.reject(new S3ServiceException({ name: 'NoSuchKey', ...details }))
  })
  const upload = vi.spyOn(Upload.prototype, 'done').mockResolvedValue({ $metadata: {} })
  const store = new S3Store({
    kind: 's3',
    bucket: 'b',
    prefix: '',
    region: 'eu',
    endpoint: undefined,
    forcePathStyle: false,
  })
  expect(await store.put([value], new AbortController().signal)).toMatchObject({ bytes: value.length })
  expect(upload).toHaveBeenCalledOnce()
})
