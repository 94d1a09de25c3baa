import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { defaultLimits } from '../../src/common/limits.js'
import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { never } from './docker-support.js'

const spec = { namespace: 'test', session: 's', epoch: 1, workflowId: 'wf', runId: 'run', limits: defaultLimits }

/** A daemon that says of itself what `info` says, and has every image; asked for a container it fails. */
async function backendOn(info: object) {
  const directory = mkdtempSync(join(tmpdir(), 'ptc-daemon-'))
  const paths: string[] = []
  const server = createServer(({ url = '' }, response) => {
    paths.push(url)
    if (url.endsWith('/info')) response.end(JSON.stringify({ OSType: 'linux', ...info }))
    else if (url.endsWith('/version')) response.end(JSON.stringify({ Version: '27.0.0', ApiVersion: '1.46' }))
    else response.writeHead(404).end('{"message":"no such thing"}')
  })
  const path = join(directory, 'docker.sock')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  vi.stubEnv('DOCKER_HOST', `unix://${path}`)
  const backend = createDockerBackend()
  onTestFinished(async () => {
    await backend.close()
    server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return { backend, paths }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

test.each([
  ['memory', { MemoryLimit: false }, 'memory limits are not enforced'],
  ['processes', { PidsLimit: false }, 'process limits are not enforced'],
  ['system calls', { SecurityOptions: ['name=apparmor'] }, 'the daemon has no seccomp'],
])('a daemon that can not limit %s makes no sandbox', async (_what, info, message) => {
  const { backend, paths } = await backendOn(info)
  const refusal = { code: 'SANDBOX_UNENFORCED', retryable: false, message: expect.stringContaining(message) }
  await expect(backend.ensureImage()).rejects.toMatchObject(refusal)
  await expect(backend.open(spec, never)).rejects.toMatchObject(refusal)
  expect(paths.filter((path) => path.includes('/containers/'))).toEqual([])
  expect(await backend.check()).toMatchObject({ usable: false })
})

test('what a daemon can not enforce, but is no wall, is said when a worker starts', async () => {
  const { backend } = await backendOn({ CpuCfsQuota: false })
  const lines: string[] = []
  // It has no image, and can't build one.
  await expect(backend.ensureImage({ onProgress: (line) => lines.push(line) })).rejects.toBeDefined()
  expect(lines).toContain('warning: CPU limits are not enforced')
})
