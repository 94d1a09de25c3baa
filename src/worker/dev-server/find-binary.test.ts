import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { PtcError } from '../../common/errors.js'
import { cachedBinary } from './cached-binary.js'
import { findBinary } from './find-binary.js'

const run = promisify(execFile)
const signal = new AbortController().signal

/** A machine with its own cache and PATH: only what a test puts there. */
async function machine() {
  const root = await mkdtemp(join(tmpdir(), 'find-binary-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const onPath = join(root, 'bin', 'temporal')
  const environment = { XDG_CACHE_HOME: join(root, 'cache'), PATH: dirname(onPath), HOME: root }
  const lines: string[] = []
  return { root, onPath, environment, lines, onProgress: (line: string) => void lines.push(line), signal }
}

/** A program that answers `--version` as a CLI with this server does. */
async function putCli(path: string, server: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\necho "temporal version 1.0.0 (Server ${server}, UI 2.50.1)"\n`)
  await chmod(path, 0o755)
}

async function serve(answer: { readonly status: number; readonly body?: Buffer }) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    response.writeHead(answer.status).end(answer.body)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { requests, host: `http://127.0.0.1:${address.port}` }
}

async function archiveWith(server: string, root: string): Promise<Buffer> {
  await putCli(join(root, 'packed', 'temporal'), server)
  await run('tar', ['-czf', join(root, 'cli.tar.gz'), '-C', join(root, 'packed'), 'temporal'])
  return readFile(join(root, 'cli.tar.gz'))
}

test('our cached copy is taken before the one on PATH', async () => {
  const here = await machine()
  await putCli(cachedBinary(here.environment), '1.31.2')
  await putCli(here.onPath, '1.31.2')
  expect(await findBinary(here)).toBe(cachedBinary(here.environment))
  expect(here.lines).toEqual([`Temporal CLI: cached copy, ${cachedBinary(here.environment)}`])
})

test('without a cached copy, a new enough one on PATH is taken', async () => {
  const here = await machine()
  await putCli(here.onPath, '1.29.0')
  expect(await findBinary(here)).toBe(here.onPath)
  expect(here.lines.at(-1)).toBe(`Temporal CLI: temporal on PATH, ${here.onPath}`)
})

test('one on PATH that is too old is passed over, and the download ends up in the cache', async () => {
  const here = await machine()
  await putCli(here.onPath, '1.28.1')
  const { host, requests } = await serve({ status: 200, body: await archiveWith('1.31.2', here.root) })
  expect(await findBinary({ ...here, downloadHost: host })).toBe(cachedBinary(here.environment))
  expect(requests).toEqual([expect.stringMatching(/^\/cli\/archive\/v1\.8\.2\?platform=\w+&arch=\w+$/)])
  expect(here.lines.join('\n')).toContain('has Temporal server 1.28.1; 1.29.0 or newer is needed')
  expect(await readdir(dirname(cachedBinary(here.environment)))).toEqual(['temporal-1.8.2'])
})

test('several processes that need a download at once make one', async () => {
  const here = await machine()
  const { host, requests } = await serve({ status: 200, body: await archiveWith('1.31.2', here.root) })
  const all = await Promise.all([1, 2, 3].map(() => findBinary({ ...here, downloadHost: host })))
  expect(new Set(all)).toEqual(new Set([cachedBinary(here.environment)]))
  expect(requests).toHaveLength(1)
})

test('what a killed download left behind is removed', async () => {
  const here = await machine()
  const leftover = join(dirname(cachedBinary(here.environment)), 'download-abc')
  await mkdir(leftover, { recursive: true })
  const { host } = await serve({ status: 200, body: await archiveWith('1.31.2', here.root) })
  await findBinary({ ...here, downloadHost: host })
  expect(await readdir(dirname(leftover))).toEqual(['temporal-1.8.2'])
})

test('when every way is closed, one error says what each of them said and what to do', async () => {
  const here = await machine()
  const { host } = await serve({ status: 503 })
  const error: unknown = await findBinary({ ...here, downloadHost: host }).catch((thrown: unknown) => thrown)
  if (!PtcError.isInstance(error)) throw new Error('not our error', { cause: error })
  expect(error.code).toBe('TEMPORAL_UNREACHABLE')
  expect(error.message).toContain('cached copy: none yet')
  expect(error.message).toContain('temporal on PATH: not there')
  expect(error.message).toMatch(/download of 1\.8\.2: 127\.0\.0\.1:\d+ answered 503 Service Unavailable/)
  expect(error.message).toContain('build of 1.8.2 with Go: Go is not installed')
  expect(error.hint).toContain('TEMPORAL_ADDRESS')
})

test('an unreachable download host is given up at once, and named', async () => {
  const here = await machine()
  const host = 'http://nowhere.invalid'
  await expect(findBinary({ ...here, downloadHost: host })).rejects.toThrow(/download of 1\.8\.2: .*nowhere\.invalid/)
})
