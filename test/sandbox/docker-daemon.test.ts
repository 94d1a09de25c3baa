import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { defaultLimits } from '../../src/common/limits.js'
import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { never } from './docker-support.js'

const spec = {
  namespace: 'test',
  session: 'session',
  epoch: 1,
  workflowId: 'wf',
  runId: 'run',
  limits: defaultLimits,
}

/** A unix socket that answers as told; `hang` says nothing for ever. */
async function daemonThat(answer: 'hang' | ((request: string) => string)): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'ptc-daemon-'))
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      if (answer !== 'hang') socket.end(answer(chunk.toString()))
    })
  })
  const path = join(directory, 'docker.sock')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return `unix://${path}`
}

/** @param deadlineMs short where a daemon hangs; one that answers may take its time */
function backendAt(host: string, deadlineMs = 60_000) {
  vi.stubEnv('DOCKER_HOST', host)
  const backend = createDockerBackend({ callMs: deadlineMs, checkMs: deadlineMs })
  onTestFinished(() => backend.close())
  return backend
}

afterEach(() => {
  vi.unstubAllEnvs()
})

test('a daemon that hangs costs no more than the deadline, whatever is asked of it', async () => {
  const backend = backendAt(await daemonThat('hang'), 300)
  const unavailable = { code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('no answer within 300 ms') }
  await Promise.all([
    expect(backend.open(spec, never)).rejects.toMatchObject(unavailable),
    expect(backend.attach(spec, never)).rejects.toMatchObject(unavailable),
    expect(backend.remove(spec)).rejects.toMatchObject(unavailable),
    expect(backend.listSandboxes()).rejects.toMatchObject(unavailable),
    expect(backend.ensureImage()).rejects.toMatchObject(unavailable),
  ])
})

test('a cancelled open does not wait for a daemon that hangs', async () => {
  const backend = backendAt(await daemonThat('hang'))
  const controller = new AbortController()
  const opening = backend.open(spec, controller.signal)
  controller.abort(new Error('cancelled'))
  await expect(opening).rejects.toThrow('cancelled')
})

test('check tells of a daemon that hangs, in time', async () => {
  const { usable, problems } = await backendAt(await daemonThat('hang'), 300).check()
  expect(usable).toBe(false)
  expect(problems).toEqual([
    { severity: 'error', message: expect.stringContaining('no answer'), remedy: expect.stringContaining('hangs') },
  ])
})

test('without a daemon the error says how to get one', async () => {
  const backend = backendAt('unix:///nowhere/docker.sock')
  await expect(backend.open(spec, never)).rejects.toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    hint: expect.stringContaining('Start Docker'),
  })
  expect(await backend.check()).toMatchObject({
    usable: false,
    problems: [{ remedy: expect.stringContaining('DOCKER_HOST') }],
  })
})

test('a daemon that fails inside is unavailable, with its own words', async () => {
  const body = JSON.stringify({ message: 'no space left on device' })
  const answer = `HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const backend = backendAt(await daemonThat(() => answer))
  await expect(backend.open(spec, never)).rejects.toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    retryable: true,
    message: expect.stringContaining('no space left on device'),
  })
})

test('a daemon that talks nonsense is unavailable, not a crash', async () => {
  const backend = backendAt(await daemonThat(() => 'SSH-2.0-OpenSSH_9.2\r\n'))
  await expect(backend.open(spec, never)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
  expect((await backend.check()).usable).toBe(false)
})

test('a DOCKER_HOST that is none, and options that are none, are said at once', () => {
  vi.stubEnv('DOCKER_HOST', 'tcp://[nonsense')
  expect(() => createDockerBackend()).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  vi.stubEnv('DOCKER_HOST', 'ssh://user@host')
  const refusal = { code: 'CONFIG_INVALID', hint: expect.stringContaining('ssh -N -L') as string }
  expect(() => createDockerBackend()).toThrow(expect.objectContaining(refusal))
  vi.unstubAllEnvs()
  expect(() => createDockerBackend({ lifetimeSeconds: 0 })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
})
