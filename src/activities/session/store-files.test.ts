import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { MockActivityEnvironment } from '@temporalio/testing'
import { expect, it, onTestFinished } from 'vitest'
import { type FoundFile, partBytes, type StoreFilesResult } from '../../common/files/files.js'
import { defaultLimits } from '../../common/run/limits.js'
import { readStoredFile } from '../../files/index.js'
import type { SessionHost } from '../../sandbox/session/session-host.js'
import type { Snapshot } from '../../sandbox/session/snapshot-receiver.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { storeFiles } from './store-files.js'

type Answer = (path: string, offset: number, bytes: number, attempt: number) => Snapshot | undefined

const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')
const found = (path: string, content: string): FoundFile => ({ path, bytes: content.length, sha256: sha256(content) })
const snapshot = (content: Uint8Array): Snapshot => ({
  type: 'snapshot',
  pieces: [Buffer.from(content).toString('base64')],
})

interface StoreOptions {
  readonly maxBytes?: number
  /** The last heartbeat of the attempt before. */
  readonly heartbeatDetails?: unknown
  /** Default: a new folder. */
  readonly folder?: string
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

async function store(
  answer: Answer,
  files: readonly FoundFile[],
  { maxBytes = 100 * partBytes, heartbeatDetails, folder = newFolder() }: StoreOptions = {},
) {
  const values = new Values({ store: new LocalStore(folder) })
  const host: Pick<SessionHost, 'readFile'> = {
    readFile: (_session, _step, { part: { path, offset, bytes } }, { attempt }) =>
      Promise.resolve(answer(path, offset, bytes, attempt)),
  }
  const input = {
    session: { id: 's', epoch: 1, backend: 'docker', startedAt: 0 },
    step: 3,
    limits: defaultLimits,
    maxBytes,
    files,
  }
  const activity = storeFiles({ host: host as SessionHost, values })
  const environment = new MockActivityEnvironment({ heartbeatDetails })
  const reported: unknown[] = []
  environment.on('heartbeat', (details: unknown) => reported.push(details))
  const result = await environment.run(activity, input).catch((thrown: unknown) => thrown as Error)
  if (result instanceof Error && reported.length === 0) throw result
  return { result: result as StoreFilesResult, values, folder, reported }
}

it('session.files stores a file in parts, each read with a greater attempt', async () => {
  const content = Buffer.alloc(2 * partBytes + 5, 'abc')
  const attempts: number[] = []
  const { result, values } = await store(
    (_path, offset, bytes, attempt) => {
      attempts.push(attempt)
      return snapshot(content.subarray(offset, offset + bytes))
    },
    [{ path: '/tmp/out/a', bytes: content.length, sha256: sha256(content) }],
  )
  if (result.type !== 'stored' || !result.files[0]) throw new Error('nothing was stored')
  expect(result.lost).toEqual([])
  expect(attempts).toEqual([100_001, 100_002, 100_003])
  expect((await buffer(readStoredFile(values, result.files[0], new AbortController().signal))).equals(content)).toBe(
    true,
  )
})

it('session.files continues with the parts that a failed attempt has stored', async () => {
  const contents = [randomBytes(2 * partBytes + 5), randomBytes(2 * partBytes + 5)]
  const files = contents.map((content, index) => ({
    path: `/tmp/out/${index}`,
    bytes: content.length,
    sha256: sha256(content),
  }))
  const reads: (readonly [path: string, offset: number])[] = []
  const answer = (failsAt: number): Answer => {
    return (path, offset, bytes) => {
      reads.push([path, offset])
      if (reads.length === failsAt) throw new Error('the worker has died')
      return snapshot((contents[Number(path.at(-1))] ?? Buffer.of()).subarray(offset, offset + bytes))
    }
  }
  const { folder, reported } = await store(answer(5), files)
  reads.length = 0
  const { result, values } = await store(answer(0), files, { folder, heartbeatDetails: reported.at(-1) })
  expect(reads).toEqual([
    ['/tmp/out/1', partBytes],
    ['/tmp/out/1', 2 * partBytes],
  ])
  if (result.type !== 'stored') throw new Error('nothing was stored')
  for (const [index, file] of result.files.entries())
    expect(
      (await buffer(readStoredFile(values, file, new AbortController().signal))).equals(contents[index] as Buffer),
    ).toBe(true)
  reads.length = 0
  const lost = await store(answer(0), files, { heartbeatDetails: reported.at(-1) })
  expect([reads.length, lost.result]).toEqual([6, result])
})

it.each<[string, FoundFile, Answer, string]>([
  [
    'with other bytes',
    found('/tmp/out/a', 'abc'),
    () => snapshot(Buffer.from('abd')),
    'it was changed while it was read',
  ],
  [
    'with fewer bytes',
    found('/tmp/out/a', 'abc'),
    () => snapshot(Buffer.from('ab')),
    'it was changed while it was read',
  ],
  [
    'that is gone',
    found('/tmp/out/a', 'abc'),
    () => ({ type: 'no_snapshot', reason: 'No such\nfile' }),
    'No such file',
  ],
  ['that was not read', { path: '/tmp/out/a', bytes: 1, problem: 'it is a link' }, () => undefined, 'it is a link'],
  ['outside of the folder', found('/etc/passwd', 'abc'), () => undefined, 'the path: it is not in /tmp/out'],
  [
    'with a path that leaves the folder',
    found('/tmp/out/../../home/x', 'abc'),
    () => undefined,
    'the path: it has an empty name, or a dot as one',
  ],
  [
    'larger than the sandbox',
    { ...found('/tmp/out/a', 'abc'), bytes: 1e15 },
    () => undefined,
    'it is larger than what is left of the room for files',
  ],
])('session.files does not store a file %s', async (_what, file, answer, problem) => {
  const { result } = await store(answer, [file])
  expect(result).toEqual({ type: 'stored', files: [], lost: [{ path: file.path, problem }] })
})

it('session.files reads no more bytes than the sandbox has room for', async () => {
  const files = ['a', 'b', 'c'].map((name) => found(`/tmp/out/${name}`, 'abc'))
  const { result } = await store(() => snapshot(Buffer.from('abc')), files, { maxBytes: 7 })
  expect(result).toMatchObject({
    files: [{ path: '/tmp/out/a' }, { path: '/tmp/out/b' }],
    lost: [{ path: '/tmp/out/c' }],
  })
})

it('session.files returns gone when the sandbox is lost', async () => {
  const { result, folder } = await store(() => undefined, [found('/tmp/out/a', 'abc')])
  expect(result).toEqual({ type: 'gone' })
  expect(readdirSync(folder)).toEqual([])
})
