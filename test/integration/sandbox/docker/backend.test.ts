import { afterAll, beforeAll, expect, test } from 'vitest'
import { containerName } from '../../../../src/sandbox/docker/container/sandbox-identity.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { execInContainer } from '../../../support/docker/exec-in-container.js'
import { retryMissedOomKill } from '../../../support/docker/oom-kill.js'
import {
  DockerEnvironment,
  RunnerClient,
  docker,
  neverAborted,
  execRunner,
  openRunnerClient,
} from '../../../support/sandbox/docker-sandbox.js'

describeDocker('a sandbox in Docker', () => {
  const environment = new DockerEnvironment(execRunner)
  const backend = environment.backend()

  beforeAll(async () => {
    await backend.ensureImage()
  })
  afterAll(() => environment.close())

  test('a sandbox in Docker loses no output of its start, and responds', async () => {
    const client = new RunnerClient(await backend.open(environment.spec(), neverAborted))
    expect(await client.readLine()).toBe('ready')
    expect(await client.evaluate('print(6 * 7)')).toBe('42')
    expect(client.connection.image).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(client.connection.description).toContain(`image ${client.connection.image?.slice(7, 19)}`)
  })

  test('a sandbox in Docker transfers 20 MB both ways without buffering them in this process', async () => {
    const client = await openRunnerClient(backend, environment.spec())
    const megabytes = 20
    await client.send(`for _ in range(${megabytes}): stdout.write(stdin.read(1 << 20))`)
    const before = process.memoryUsage().rss
    let peak = before
    const chunk = Buffer.alloc(1 << 20, 'x')
    const sending = (async () => {
      for (let sent = 0; sent < megabytes; sent += 1) await client.connection.send(chunk)
    })()
    let received = 0
    while (received < megabytes << 20) {
      const piece = await client.readChunk()
      if (piece === undefined) break
      received += piece.length
      peak = Math.max(peak, process.memoryUsage().rss)
    }
    await sending
    expect(received).toBe(megabytes << 20)
    expect(peak - before).toBeLessThan(60 << 20)
  })

  test('a sandbox in Docker has to wait when its output is not read', async () => {
    const spec = environment.spec()
    const client = await openRunnerClient(backend, spec)
    // The output is finite, so that a worker that buffers all of it fails an assertion and does not hang.
    await client.send(`
import os, select
os.set_blocking(1, False)
sent = 0
while sent < 64 << 20 and select.select([], [1], [], 2)[1]:
    sent += os.write(1, b'x' * 4096)
open('/tmp/stopped', 'x').close()
os.set_blocking(1, True)
os.write(1, b'\\n%d\\n' % sent)
`)
    // Starts to read only after the program has found its pipe full.
    await expect.poll(() => execInContainer(containerName(spec), ['test', '-e', '/tmp/stopped'])).toBe(0)
    const flood = await client.readLine()
    const sent = Number(await client.readLine())
    expect(flood.length).toBe(sent)
    expect(sent).toBeGreaterThanOrEqual(64 << 10)
    expect(sent).toBeLessThan(16 << 20)
  })

  test('a sandbox in Docker keeps its variables when another worker attaches', async () => {
    const spec = environment.spec()
    const first = await openRunnerClient(backend, spec)
    await first.evaluate('kept = 17; print(0)')
    await first.connection.detach()
    expect(await first.connection.ended).toMatchObject({ reason: 'disconnected', exitCode: null })

    const connection = await environment.backend().attach(spec, neverAborted)
    if (connection === undefined) throw new Error('the sandbox is gone')
    expect(await new RunnerClient(connection).evaluate('print(kept)')).toBe('17')
  })

  test('a sandbox in Docker is created once when it is opened twice', async () => {
    const spec = environment.spec()
    const first = await openRunnerClient(backend, spec)
    await first.evaluate('kept = 18; print(0)')
    const second = new RunnerClient(await environment.backend().open(spec, neverAborted))
    await second.send('print(kept)')
    expect(await second.readLine()).toBe('18')
    expect(
      (await backend.listSandboxes(environment.namespace)).filter(({ id }) => id.session === spec.session),
    ).toHaveLength(1)
  })

  test('a sandbox in Docker is created once when two workers open it at the same time', async () => {
    const spec = environment.spec()
    const opened = await Promise.all([backend.open(spec, neverAborted), environment.backend().open(spec, neverAborted)])
    expect(opened).toHaveLength(2)
    expect((await docker.getContainer(containerName(spec)).inspect()).State.Running).toBe(true)
  })

  test('a sandbox in Docker is started when an earlier worker died between create and start', async () => {
    for (const operation of ['open', 'attach'] as const) {
      const spec = environment.spec()
      const client = await openRunnerClient(backend, spec)
      await client.connection.detach()
      const created = await docker.getContainer(containerName(spec)).inspect()
      await docker.getContainer(created.Id).remove({ force: true })
      const { Image, User, Env, Entrypoint, Labels } = created.Config
      await docker.createContainer({
        name: containerName(spec),
        Image,
        User,
        Env,
        Labels,
        OpenStdin: true,
        HostConfig: created.HostConfig,
        ...(Entrypoint === undefined ? {} : { Entrypoint }),
      })
      const connection = await environment.backend()[operation](spec, neverAborted)
      if (connection === undefined) throw new Error('the sandbox is gone')
      expect(await new RunnerClient(connection).readLine()).toBe('ready')
    }
  })

  test('a sandbox in Docker reports its exit to each attach, until it is removed', async () => {
    const spec = environment.spec()
    const client = await openRunnerClient(backend, spec)
    await client.send('raise SystemExit(4)')
    await client.connection.ended
    for (const next of [backend, environment.backend()]) {
      const ended = await next.attach(spec, neverAborted)
      expect(await ended?.ended).toEqual({ reason: 'exited', exitCode: 4, diagnostics: '' })
      await expect(ended?.send(new Uint8Array(1))).rejects.toMatchObject({ code: 'SANDBOX_LOST' })
    }
    await backend.remove(spec)
    expect(await backend.attach(spec, neverAborted)).toBeUndefined()
  })

  test('a killed sandbox in Docker is created again by open, and not found by attach', async () => {
    const spec = environment.spec()
    const first = await openRunnerClient(backend, spec)
    await first.connection.kill()
    expect(await backend.attach(spec, neverAborted)).toBeUndefined()
    await expect(docker.getContainer(containerName(spec)).inspect()).rejects.toMatchObject({ statusCode: 404 })

    const second = await openRunnerClient(backend, spec)
    await second.send('raise SystemExit(5)')
    expect(await second.connection.ended).toMatchObject({ exitCode: 5 })
    const third = await openRunnerClient(backend, spec)
    expect(await third.evaluate('print(3)')).toBe('3')
  })

  test('a sandbox in Docker reports the error message of a crash', async () => {
    const client = await openRunnerClient(backend, environment.spec())
    await client.send('raise ValueError("out of tea")')
    const end = await client.connection.ended
    expect(end).toMatchObject({ reason: 'exited', exitCode: 1 })
    expect(end.diagnostics).toMatch(/ValueError: out of tea$/)
    await expect(client.readLine()).rejects.toThrow('sent no more')
    await expect(client.send('1')).rejects.toMatchObject({ code: 'SANDBOX_LOST' })
  })

  test('a sandbox in Docker ends as out of memory when the kernel kills the runner', async () => {
    const hoarding = async () => {
      const client = await openRunnerClient(backend, environment.spec({ memoryBytes: 64 << 20 }))
      await client.send('hoard = [bytearray(1 << 20) for _ in range(1000)]')
      return client.connection.ended
    }
    const end = await retryMissedOomKill(hoarding, ({ reason, exitCode }) => reason === 'exited' && exitCode === 137)
    expect(end).toMatchObject({ reason: 'out_of_memory', exitCode: 137 })
  })

  test('a sandbox continues when the kernel kills only a child for its memory, and reports that at its end', async () => {
    const client = await openRunnerClient(backend, environment.spec({ memoryBytes: 96 << 20 }))
    const code = 'import subprocess; print(subprocess.run(["python3", "-c", "bytearray(300 << 20)"]).returncode)'
    expect(await client.evaluate(code)).toBe('-9')
    await client.connection.kill()
    const end = await client.connection.ended
    expect(end.reason).toBe('exited')
    expect(end.diagnostics).toContain('used up its memory')
  })

  test('a sandbox in Docker can be killed repeatedly while it is stopped', async () => {
    const client = await openRunnerClient(backend, environment.spec())
    await client.send('import signal, os; signal.signal(2, signal.SIG_IGN); os.kill(os.getpid(), signal.SIGSTOP)')
    await Promise.all([client.connection.kill(), client.connection.kill()])
    expect(await client.connection.ended).toMatchObject({ reason: 'exited', exitCode: 137 })
    await client.connection.kill()
    expect(await client.connection.interrupt()).toBe(false)
  })

  test('a sandbox in Docker continues after an interrupt', async () => {
    const client = await openRunnerClient(backend, environment.spec())
    await client.send(`
import time
try:
    print('busy', flush=True)
    while True: time.sleep(0.01)
except KeyboardInterrupt:
    print('interrupted')
`)
    expect(await client.readLine()).toBe('busy')
    expect(await client.connection.interrupt()).toBe(true)
    expect(await client.readLine()).toBe('interrupted')
    expect(await client.evaluate('print("on")')).toBe('on')
  })

  test('a sandbox in Docker is disconnected when it does not read', async () => {
    const backend = environment.backend({ sendTimeoutMs: 500 })
    const client = await openRunnerClient(backend, environment.spec())
    await client.send('import time; time.sleep(600)')
    await expect(client.connection.send(Buffer.alloc(10 << 20))).rejects.toMatchObject({ code: 'SANDBOX_PROTOCOL' })
    expect(await client.connection.ended).toMatchObject({ reason: 'disconnected' })
  })

  test('a sandbox in Docker is disconnected when it floods stderr', async () => {
    const client = await openRunnerClient(backend, environment.spec())
    await client.send('import os\nwhile True: os.write(2, b"x" * 65536)')
    await expect(client.readLine()).rejects.toMatchObject({ code: 'SANDBOX_PROTOCOL' })
    const end = await client.connection.ended
    expect(end.reason).toBe('disconnected')
    expect(end.diagnostics.length).toBeLessThanOrEqual(8 * 1024)
  })

  test('a sandbox in Docker is removed completely, also while it is connected', async () => {
    const spec = environment.spec()
    const client = await openRunnerClient(backend, spec)
    await backend.remove(spec)
    await backend.remove(spec)
    expect((await client.connection.ended).reason).toBe('exited')
    expect(await backend.attach(spec, neverAborted)).toBeUndefined()
    expect((await backend.listSandboxes(environment.namespace)).some(({ id }) => id.session === spec.session)).toBe(
      false,
    )
  })

  test('the backend does not touch a container with its name but without its labels', async () => {
    const spec = environment.spec()
    const foreign = await docker.createContainer({ name: containerName(spec), Image: backend.image, Cmd: ['true'] })
    try {
      await expect(backend.open(spec, neverAborted)).rejects.toMatchObject({ code: 'SANDBOX_NAME_TAKEN' })
      expect(await backend.attach(spec, neverAborted)).toBeUndefined()
      await backend.remove(spec)
      expect((await foreign.inspect()).State.Status).toBe('created')
    } finally {
      await foreign.remove({ force: true })
    }
  })

  test('a sandbox in Docker is removed after its expiry, unless it is in use', async () => {
    const [old, kept] = [environment.spec(), environment.spec()]
    // The sandboxes are not really expired: the workers of other tests remove all expired sandboxes.
    const oneHour = environment.backend({ lifetimeSeconds: 3_600 })
    await oneHour.open(old, neverAborted)
    await oneHour.open(kept, neverAborted)
    const now = new Date(Date.now() + 3_700_000)
    const isInUse = ({ session }: { readonly session: string }) => session === kept.session
    const removed = await backend.removeExpired({ namespace: environment.namespace, now, isInUse })
    expect(removed.map(({ id }) => id.session)).toEqual([old.session])
    expect(await backend.attach(kept, neverAborted)).toBeDefined()
  })

  test('a sandbox in Docker keeps running after its backend is closed', async () => {
    const spec = environment.spec()
    const otherBackend = environment.backend()
    const client = await openRunnerClient(otherBackend, spec)
    await otherBackend.close()
    expect((await client.connection.ended).reason).toBe('disconnected')
    await expect(otherBackend.open(spec, neverAborted)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    expect(await backend.attach(spec, neverAborted)).toBeDefined()
  })

  test('a sandbox in Docker is not created when the signal is aborted before open', async () => {
    const spec = environment.spec()
    await expect(backend.open(spec, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled')
    await expect(docker.getContainer(containerName(spec)).inspect()).rejects.toMatchObject({ statusCode: 404 })
  })
})

describeDocker('a sandbox whose runner exits at its start', () => {
  const broken = new DockerEnvironment('import sys\nsys.exit("no runner today")\n')
  const backend = broken.backend()

  beforeAll(async () => {
    await backend.ensureImage()
  })
  afterAll(() => broken.close())

  test('a sandbox whose runner exits at its start reports the exit with its message', async () => {
    const connection = await backend.open(broken.spec(), neverAborted)
    expect(await connection.ended).toEqual({ reason: 'exited', exitCode: 1, diagnostics: 'no runner today' })
  })
})
