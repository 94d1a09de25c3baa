import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { LocalStore } from '../../../src/values/local/local-store.js'
import { S3Store } from '../../../src/values/s3/s3-store.js'
import { s3Available, S3Server } from '../../support/s3/s3-server.js'
import { describeValueStore } from '../../support/values/conformance.js'

describe('LocalStore', () => {
  let directory = ''
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ptc-values-'))
    return () => rm(directory, { recursive: true })
  })
  const open = () => Promise.resolve(new LocalStore(join(directory, 'values')))
  describeValueStore({ open, openAgain: open })
})

describe.skipIf((await s3Available) === undefined)('S3Store', () => {
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
  describeValueStore({ open, openAgain: open })
})
