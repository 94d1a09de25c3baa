import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { PtcError } from '../common/errors.js'
import { cachedCliPath, checkCli, findTemporalCli } from './temporal-cli.js'

const run = promisify(execFile)
const signal = new AbortController().signal

/** A machine whose cache and PATH contain only the programs of a test. */
async function machine() {
  const root = await mkdtemp(join(tmpdir(), 'temporal-cli-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const onPath = join(root, 'bin', 'temporal')
  const environment = { XDG_CACHE_HOME: join(root, 'cache'), PATH: dirname(onPath), HOME: root }
  const cached = cachedCliPath(environment)
  const lines: string[] = []
  return { root, onPath, cached, environment, lines, onProgress: (line: string) => void lines.push(line), signal }
}

/** Writes a program that answers `--version` like a CLI with this server. */
async function putCli(path: string, server: string): Promise<void> {
  await putProgram(path, `echo "temporal version 1.0.0 (Server ${server}, UI 2.50.1)"`)
}

async function putProgram(path: string, script: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
}

/** A download host that sends this reply; a reply that is `cutOff` ends before its body does. */
async function serve(reply: { readonly status: number; readonly body?: Buffer; readonly isCutOff?: boolean }) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url ?? '')
    const { status, body = Buffer.alloc(0), isCutOff = false } = reply
    response.writeHead(status, { 'content-length': body.length })
    if (isCutOff) response.write(body.subarray(0, body.length / 2), () => response.destroy())
    else response.end(body)
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

test.each([
  ['temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)', '1.31.2'],
  ['temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.0)', '1.29.1'],
])('reads the server version from "%s"', async (output, version) => {
  const { onPath, environment } = await machine()
  await putProgram(onPath, `echo "${output}"`)
  expect(await checkCli(onPath, environment, signal)).toBe(version)
})

test('rejects a program that reports no server version', async () => {
  const { onPath, environment } = await machine()
  await putProgram(onPath, 'echo "temporal 1.8.2"')
  await expect(checkCli(onPath, environment, signal)).rejects.toThrow(
    'does not name its server version: temporal 1.8.2',
  )
})

test('prefers the cached CLI to the CLI on PATH', async () => {
  const here = await machine()
  await putCli(here.cached, '1.31.2')
  await putCli(here.onPath, '1.31.2')
  expect(await findTemporalCli(here)).toBe(here.cached)
  expect(here.lines).toEqual([`Temporal CLI: cached copy, ${here.cached}`])
})

test('uses a new enough CLI on PATH when there is no cached copy', async () => {
  const here = await machine()
  await putCli(here.onPath, '1.29.0')
  expect(await findTemporalCli(here)).toBe('temporal')
  expect(here.lines.at(-1)).toBe('Temporal CLI: temporal on PATH, temporal')
})

test('downloads the CLI into the cache when the one on PATH is too old', async () => {
  const here = await machine()
  await putCli(here.onPath, '1.28.1')
  const { host, requests } = await serve({ status: 200, body: await archiveWith('1.31.2', here.root) })
  expect(await findTemporalCli({ ...here, downloadHost: host })).toBe(here.cached)
  expect(requests).toEqual([expect.stringMatching(/^\/cli\/archive\/v1\.8\.2\?platform=\w+&arch=\w+$/)])
  expect(here.lines.join('\n')).toContain('has Temporal server 1.28.1; 1.29.0 or newer is needed')
  expect(await readdir(dirname(here.cached))).toEqual(['temporal-1.8.2'])
})

test('downloads the CLI once for several callers at the same time', async () => {
  const here = await machine()
  const { host, requests } = await serve({ status: 200, body: await archiveWith('1.31.2', here.root) })
  const found = await Promise.all([1, 2, 3].map(() => findTemporalCli({ ...here, downloadHost: host })))
  expect(new Set(found)).toEqual(new Set([here.cached]))
  expect(requests).toHaveLength(1)
})

test('leaves no files when the download of the CLI is cut off, and the next one succeeds', async () => {
  const here = await machine()
  const body = await archiveWith('1.31.2', here.root)
  const cutOff = await serve({ status: 200, body, isCutOff: true })
  await expect(findTemporalCli({ ...here, downloadHost: cutOff.host })).rejects.toThrow('download of 1.8.2: ')
  expect(await readdir(dirname(here.cached))).toEqual([])
  const { host } = await serve({ status: 200, body })
  expect(await findTemporalCli({ ...here, downloadHost: host })).toBe(here.cached)
})

test('removes the files of a killed download', async () => {
  const here = await machine()
  await mkdir(join(dirname(here.cached), 'temporal-cli-abc'), { recursive: true })
  const { host } = await serve({ status: 200, body: await archiveWith('1.31.2', here.root) })
  await findTemporalCli({ ...here, downloadHost: host })
  expect(await readdir(dirname(here.cached))).toEqual(['temporal-1.8.2'])
})

test('reports the failure of every source of the CLI in one error with a hint', async () => {
  const here = await machine()
  const { host } = await serve({ status: 503 })
  const error: unknown = await findTemporalCli({ ...here, downloadHost: host }).catch((thrown: unknown) => thrown)
  if (!PtcError.isInstance(error)) throw new Error('not a PtcError', { cause: error })
  expect(error.code).toBe('TEMPORAL_UNREACHABLE')
  expect(error.message).toContain(`cached copy: ${here.cached} not found`)
  expect(error.message).toContain('temporal on PATH: temporal not found')
  expect(error.message).toMatch(/download of 1\.8\.2: 127\.0\.0\.1:\d+ answered 503 Service Unavailable/)
  expect(error.message).toContain('build of 1.8.2 with Go (about 4 minutes): go not found')
  expect(error.hint).toContain('TEMPORAL_ADDRESS')
})

test('reports an unreachable download host at once', async () => {
  const here = await machine()
  const host = 'http://nowhere.invalid'
  await expect(findTemporalCli({ ...here, downloadHost: host })).rejects.toThrow(
    /download of 1\.8\.2: .*nowhere\.invalid/,
  )
})
