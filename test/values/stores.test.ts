import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { LocalStore } from '../../src/values/local-store.js'
import { S3Store } from '../../src/values/s3-store.js'
import { s3Available, S3Server } from '../support/s3-server.js'
import { conforms } from './conformance.js'

describe('a folder', () => {
  let directory = ''
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ptc-values-'))
    return () => rm(directory, { recursive: true })
  })
  const open = () => Promise.resolve(new LocalStore(join(directory, 'values')))
  conforms({ open, openAgain: open })
})

describe.skipIf((await s3Available) === undefined)('a bucket', () => {
  let server: S3Server
  let prefix = 0
  beforeAll(async () => {
    server = await S3Server.start()
  })
  afterAll(() => server.close())
  beforeEach(() => {
    prefix++
  })
  const open = () => Promise.resolve(new S3Store(server.settings(`test ${prefix}/`)))
  conforms({ open, openAgain: open })
})
