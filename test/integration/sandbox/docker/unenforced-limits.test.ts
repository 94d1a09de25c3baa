import { createServer } from 'node:http'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createDockerBackend } from '../../../../src/sandbox/docker/index.js'
import { createSpec } from '../../../support/sandbox/create-spec.js'
import { neverAborted } from '../../../support/sandbox/docker-sandbox.js'
import { startFakeDaemon } from '../../../support/sandbox/fake-docker-daemon.js'

const spec = createSpec('session')

/** The backend of a daemon with this /info. The daemon has no images and can't create containers. */
async function createBackendFor(info: object) {
  const paths: string[] = []
  const server = createServer(({ url = '' }, response) => {
    paths.push(url)
    if (url.endsWith('/info')) response.end(JSON.stringify({ OSType: 'linux', ...info }))
    else if (url.endsWith('/version')) response.end(JSON.stringify({ Version: '27.0.0', ApiVersion: '1.46' }))
    else response.writeHead(404).end('{"message":"no such thing"}')
  })
  vi.stubEnv('DOCKER_HOST', await startFakeDaemon(server))
  const backend = createDockerBackend()
  onTestFinished(() => backend.close())
  return { backend, paths }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

test.each([
  ['memory', { MemoryLimit: false }, 'memory limits are not enforced'],
  ['processes', { PidsLimit: false }, 'process limits are not enforced'],
  ['system calls', { SecurityOptions: ['name=apparmor'] }, 'the daemon has no seccomp'],
])('refuses a daemon that does not limit %s', async (_what, info, message) => {
  const { backend, paths } = await createBackendFor(info)
  const refusal = { code: 'SANDBOX_UNENFORCED', retryable: false, message: expect.stringContaining(message) }
  await expect(backend.ensureImage()).rejects.toMatchObject(refusal)
  await expect(backend.open(spec, neverAborted)).rejects.toMatchObject(refusal)
  expect(paths.filter((path) => path.includes('/containers/'))).toEqual([])
  expect(await backend.check()).toMatchObject({ usable: false })
})

test('ensureImage reports limits that are not enforced and not part of the isolation', async () => {
  const { backend } = await createBackendFor({ CpuCfsQuota: false })
  const lines: string[] = []
  // The daemon has no image, and can't build one.
  await expect(backend.ensureImage({ onProgress: (line) => lines.push(line) })).rejects.toBeDefined()
  expect(lines).toContain('warning: CPU limits are not enforced')
})
