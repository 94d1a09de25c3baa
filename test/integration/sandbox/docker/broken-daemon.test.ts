import { createServer, type Server } from 'node:net'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createDockerBackend } from '../../../../src/sandbox/docker/index.js'
import { createSpec } from '../../../support/sandbox/create-spec.js'
import { neverAborted } from '../../../support/sandbox/docker-sandbox.js'
import { startFakeDaemon } from '../../../support/sandbox/fake-docker-daemon.js'

const spec = createSpec('session')

/** A daemon that responds to every request with this text; undefined: it never responds. */
function fakeDaemon(response: string | undefined): Server {
  return createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => {
      if (response !== undefined) socket.end(response)
    })
  })
}

/** @param timeoutMs short only for a daemon that hangs */
async function createBackend(daemon: Server, timeoutMs = 60_000) {
  return createBackendFor(await startFakeDaemon(daemon), timeoutMs)
}

function createBackendFor(host: string, timeoutMs = 60_000) {
  vi.stubEnv('DOCKER_HOST', host)
  const backend = createDockerBackend({ requestTimeoutMs: timeoutMs, checkTimeoutMs: timeoutMs })
  onTestFinished(() => backend.close())
  return backend
}

afterEach(() => {
  vi.unstubAllEnvs()
})

test('every operation of the backend rejects at the timeout when the daemon hangs', async () => {
  const backend = await createBackend(fakeDaemon(undefined), 300)
  const unavailable = { code: 'SANDBOX_BACKEND_DOWN', message: expect.stringContaining('no answer within 300 ms') }
  await Promise.all([
    expect(backend.open(spec, neverAborted)).rejects.toMatchObject(unavailable),
    expect(backend.attach(spec, neverAborted)).rejects.toMatchObject(unavailable),
    expect(backend.remove(spec)).rejects.toMatchObject(unavailable),
    expect(backend.listSandboxes()).rejects.toMatchObject(unavailable),
    expect(backend.ensureImage()).rejects.toMatchObject(unavailable),
  ])
})

test('an aborted open does not wait for a daemon that hangs', async () => {
  const backend = await createBackend(fakeDaemon(undefined))
  const controller = new AbortController()
  const opening = backend.open(spec, controller.signal)
  controller.abort(new Error('cancelled'))
  await expect(opening).rejects.toThrow('cancelled')
})

test('check reports a daemon that hangs, at the timeout', async () => {
  const { usable, problems } = await (await createBackend(fakeDaemon(undefined), 300)).check()
  expect(usable).toBe(false)
  expect(problems).toEqual([
    { severity: 'error', message: expect.stringContaining('no answer'), remedy: expect.stringContaining('hangs') },
  ])
})

test('without a daemon the error has a hint how to start one', async () => {
  const backend = createBackendFor('unix:///nowhere/docker.sock')
  await expect(backend.open(spec, neverAborted)).rejects.toMatchObject({
    code: 'SANDBOX_BACKEND_DOWN',
    hint: expect.stringContaining('Start Docker'),
  })
  expect(await backend.check()).toMatchObject({
    usable: false,
    problems: [{ remedy: expect.stringContaining('DOCKER_HOST') }],
  })
})

test('an internal error of the daemon is SANDBOX_UNAVAILABLE with its message', async () => {
  const body = JSON.stringify({ message: 'no space left on device' })
  const response = `HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const backend = await createBackend(fakeDaemon(response))
  await expect(backend.open(spec, neverAborted)).rejects.toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    retryable: true,
    message: expect.stringContaining('no space left on device'),
  })
})

test('a daemon that does not speak HTTP is SANDBOX_UNAVAILABLE', async () => {
  const backend = await createBackend(fakeDaemon('SSH-2.0-OpenSSH_9.2\r\n'))
  await expect(backend.open(spec, neverAborted)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
  expect((await backend.check()).usable).toBe(false)
})

test('createDockerBackend rejects an invalid DOCKER_HOST and invalid options', () => {
  vi.stubEnv('DOCKER_HOST', 'tcp://[nonsense')
  expect(() => createDockerBackend()).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  vi.stubEnv('DOCKER_HOST', 'ssh://user@host')
  const refusal = { code: 'CONFIG_INVALID', hint: expect.stringContaining('ssh -N -L') as string }
  expect(() => createDockerBackend()).toThrow(expect.objectContaining(refusal))
  vi.unstubAllEnvs()
  expect(() => createDockerBackend({ lifetimeSeconds: 0 })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
})
