import { afterAll, beforeAll, expect, test } from 'vitest'
import { containerName } from '../../src/sandbox/docker/identity.js'
import { describeDocker } from '../support/docker.js'
import { exitCodeIn } from '../support/exit-code-in.js'
import { untilNoticed } from '../support/memory-kills.js'
import { TestBackend, Talk, docker, never, obedientRunner, openTalk } from './docker-support.js'

describeDocker('a sandbox in Docker', () => {
  const obedient = new TestBackend(obedientRunner)
  const backend = obedient.backend()

  beforeAll(async () => {
    await backend.ensureImage()
  })
  afterAll(() => obedient.close())

  test('says what it says at once, and answers', async () => {
    const talk = new Talk(await backend.open(obedient.spec(), never))
    expect(await talk.line()).toBe('at your service')
    expect(await talk.ask('print(6 * 7)')).toBe('42')
    expect(talk.connection.description).toContain(backend.image)
  })

  test('passes 20 MB both ways without piling them up here', async () => {
    const talk = await openTalk(backend, obedient.spec())
    const megabytes = 20
    await talk.tell(`for _ in range(${megabytes}): stdout.write(stdin.read(1 << 20))`)
    const before = process.memoryUsage().rss
    let peak = before
    const chunk = Buffer.alloc(1 << 20, 'x')
    const sending = (async () => {
      for (let sent = 0; sent < megabytes; sent += 1) await talk.connection.send(chunk)
    })()
    let received = 0
    while (received < megabytes << 20) {
      const piece = await talk.piece()
      if (piece === undefined) break
      received += piece.length
      peak = Math.max(peak, process.memoryUsage().rss)
    }
    await sending
    expect(received).toBe(megabytes << 20)
    expect(peak - before).toBeLessThan(60 << 20)
  })

  test('waits when nobody reads, instead of filling the memory of its worker', async () => {
    const spec = obedient.spec()
    const talk = await openTalk(backend, spec)
    // It has an end, so that a worker that takes everything fails an assertion and does not hang.
    await talk.tell(`
import os, select
os.set_blocking(1, False)
sent = 0
while sent < 64 << 20 and select.select([], [1], [], 2)[1]:
    sent += os.write(1, b'x' * 4096)
open('/tmp/stopped', 'x').close()
os.set_blocking(1, True)
os.write(1, b'\\n%d\\n' % sent)
`)
    // Nobody reads before the program itself has found its pipe full.
    await expect.poll(() => exitCodeIn(containerName(spec), ['test', '-e', '/tmp/stopped'])).toBe(0)
    const flood = await talk.line()
    const sent = Number(await talk.line())
    expect(flood.length).toBe(sent)
    expect(sent).toBeGreaterThanOrEqual(64 << 10)
    expect(sent).toBeLessThan(16 << 20)
  })

  test('can be attached to again by another worker, with its variables', async () => {
    const spec = obedient.spec()
    const first = await openTalk(backend, spec)
    await first.ask('kept = 17; print(0)')
    await first.connection.detach()
    expect(await first.connection.ended).toMatchObject({ reason: 'disconnected', exitCode: null })

    const connection = await obedient.backend().attach(spec, never)
    if (connection === undefined) throw new Error('the sandbox is gone')
    expect(await new Talk(connection).ask('print(kept)')).toBe('17')
  })

  test('is not made twice when opened twice', async () => {
    const spec = obedient.spec()
    const first = await openTalk(backend, spec)
    await first.ask('kept = 18; print(0)')
    const second = new Talk(await obedient.backend().open(spec, never))
    await second.tell('print(kept)')
    expect(await second.line()).toBe('18')
    expect(
      (await backend.listSandboxes(obedient.namespace)).filter(({ id }) => id.session === spec.session),
    ).toHaveLength(1)
  })

  test('is made once when two workers open it at the same time', async () => {
    const spec = obedient.spec()
    const opened = await Promise.all([backend.open(spec, never), obedient.backend().open(spec, never)])
    expect(opened).toHaveLength(2)
    expect((await docker.getContainer(containerName(spec)).inspect()).State.Running).toBe(true)
  })

  test('is started when an earlier worker died between making and starting it', async () => {
    for (const way of ['open', 'attach'] as const) {
      const spec = obedient.spec()
      const unlucky = await openTalk(backend, spec)
      await unlucky.connection.detach()
      const made = await docker.getContainer(containerName(spec)).inspect()
      await docker.getContainer(made.Id).remove({ force: true })
      const { Image, User, Env, Entrypoint, Labels } = made.Config
      await docker.createContainer({
        name: containerName(spec),
        Image,
        User,
        Env,
        Labels,
        OpenStdin: true,
        HostConfig: made.HostConfig,
        ...(Entrypoint === undefined ? {} : { Entrypoint }),
      })
      const connection = await obedient.backend()[way](spec, never)
      if (connection === undefined) throw new Error('the sandbox is gone')
      expect(await new Talk(connection).line()).toBe('at your service')
    }
  })

  test('tells whoever attaches how it ended, until it is removed', async () => {
    const spec = obedient.spec()
    const talk = await openTalk(backend, spec)
    await talk.tell('raise SystemExit(4)')
    await talk.connection.ended
    for (const next of [backend, obedient.backend()]) {
      const ended = await next.attach(spec, never)
      expect(await ended?.ended).toEqual({ reason: 'exited', exitCode: 4, diagnostics: '' })
      await expect(ended?.send(new Uint8Array(1))).rejects.toMatchObject({ code: 'SANDBOX_LOST' })
    }
    await backend.remove(spec)
    expect(await backend.attach(spec, never)).toBeUndefined()
  })

  test('is made afresh by open, and not found by attach, once it was killed', async () => {
    const spec = obedient.spec()
    const first = await openTalk(backend, spec)
    await first.connection.kill()
    expect(await backend.attach(spec, never)).toBeUndefined()
    await expect(docker.getContainer(containerName(spec)).inspect()).rejects.toMatchObject({ statusCode: 404 })

    const second = await openTalk(backend, spec)
    await second.tell('raise SystemExit(5)')
    expect(await second.connection.ended).toMatchObject({ exitCode: 5 })
    const third = await openTalk(backend, spec)
    expect(await third.ask('print(3)')).toBe('3')
  })

  test('ends with the last words of a crash', async () => {
    const talk = await openTalk(backend, obedient.spec())
    await talk.tell('raise ValueError("out of tea")')
    const end = await talk.connection.ended
    expect(end).toMatchObject({ reason: 'exited', exitCode: 1 })
    expect(end.diagnostics).toMatch(/ValueError: out of tea$/)
    await expect(talk.line()).rejects.toThrow('said no more')
    await expect(talk.tell('1')).rejects.toMatchObject({ code: 'SANDBOX_LOST' })
  })

  test('is out of memory when the runner is killed for it', async () => {
    const hoarding = async () => {
      const talk = await openTalk(backend, obedient.spec({ memoryBytes: 64 << 20 }))
      await talk.tell('hoard = [bytearray(1 << 20) for _ in range(1000)]')
      return talk.connection.ended
    }
    const end = await untilNoticed(hoarding, ({ reason, exitCode }) => reason === 'exited' && exitCode === 137)
    expect(end).toMatchObject({ reason: 'out_of_memory', exitCode: 137 })
  })

  test('lives on when only a child is killed for its memory, and says so at its end', async () => {
    const talk = await openTalk(backend, obedient.spec({ memoryBytes: 96 << 20 }))
    const code = 'import subprocess; print(subprocess.run(["python3", "-c", "bytearray(300 << 20)"]).returncode)'
    expect(await talk.ask(code)).toBe('-9')
    await talk.connection.kill()
    const end = await talk.connection.ended
    expect(end.reason).toBe('exited')
    expect(end.diagnostics).toContain('used up its memory')
  })

  test('is killed at once, however often', async () => {
    const talk = await openTalk(backend, obedient.spec())
    await talk.tell('import signal, os; signal.signal(2, signal.SIG_IGN); os.kill(os.getpid(), signal.SIGSTOP)')
    await Promise.all([talk.connection.kill(), talk.connection.kill()])
    expect(await talk.connection.ended).toMatchObject({ reason: 'exited', exitCode: 137 })
    await talk.connection.kill()
    expect(await talk.connection.interrupt()).toBe(false)
  })

  test('can be interrupted, and goes on', async () => {
    const talk = await openTalk(backend, obedient.spec())
    await talk.tell(`
import time
try:
    print('busy', flush=True)
    while True: time.sleep(0.01)
except KeyboardInterrupt:
    print('interrupted')
`)
    expect(await talk.line()).toBe('busy')
    expect(await talk.connection.interrupt()).toBe(true)
    expect(await talk.line()).toBe('interrupted')
    expect(await talk.ask('print("on")')).toBe('on')
  })

  test('is given up when it does not read', async () => {
    const backend = obedient.backend({ sendMs: 500 })
    const talk = await openTalk(backend, obedient.spec())
    await talk.tell('import time; time.sleep(600)')
    await expect(talk.connection.send(Buffer.alloc(10 << 20))).rejects.toMatchObject({ code: 'SANDBOX_PROTOCOL' })
    expect(await talk.connection.ended).toMatchObject({ reason: 'disconnected' })
  })

  test('costs its worker nothing but a session when it floods stderr', async () => {
    const talk = await openTalk(backend, obedient.spec())
    await talk.tell('import os\nwhile True: os.write(2, b"x" * 65536)')
    await expect(talk.line()).rejects.toMatchObject({ code: 'SANDBOX_PROTOCOL' })
    const end = await talk.connection.ended
    expect(end.reason).toBe('disconnected')
    expect(end.diagnostics.length).toBeLessThanOrEqual(8 * 1024)
  })

  test('leaves nothing behind when removed, also while somebody is connected', async () => {
    const spec = obedient.spec()
    const talk = await openTalk(backend, spec)
    await backend.remove(spec)
    await backend.remove(spec)
    expect((await talk.connection.ended).reason).toBe('exited')
    expect(await backend.attach(spec, never)).toBeUndefined()
    expect((await backend.listSandboxes(obedient.namespace)).some(({ id }) => id.session === spec.session)).toBe(false)
  })

  test("is nobody else's: a container with its name but not its labels is not touched", async () => {
    const spec = obedient.spec()
    const foreign = await docker.createContainer({ name: containerName(spec), Image: backend.image, Cmd: ['true'] })
    try {
      await expect(backend.open(spec, never)).rejects.toMatchObject({ code: 'SANDBOX_NAME_TAKEN' })
      expect(await backend.attach(spec, never)).toBeUndefined()
      await backend.remove(spec)
      expect((await foreign.inspect()).State.Status).toBe('created')
    } finally {
      await foreign.remove({ force: true })
    }
  })

  test('is removed by the reaper after its time, unless somebody keeps it', async () => {
    const [old, kept] = [obedient.spec(), obedient.spec()]
    // Not truly over: the workers of other tests remove what is, whoever's it may be.
    const hour = obedient.backend({ lifetimeSeconds: 3_600 })
    await hour.open(old, never)
    await hour.open(kept, never)
    const now = new Date(Date.now() + 3_700_000)
    const isKept = ({ session }: { readonly session: string }) => session === kept.session
    const removed = await backend.removeExpired({ namespace: obedient.namespace, now, keep: isKept })
    expect(removed.map(({ id }) => id.session)).toEqual([old.session])
    expect(await backend.attach(kept, never)).toBeDefined()
  })

  test('does not keep its worker: closing the backend lets go of it, and it lives on', async () => {
    const spec = obedient.spec()
    const mine = obedient.backend()
    const talk = await openTalk(mine, spec)
    await mine.close()
    expect((await talk.connection.ended).reason).toBe('disconnected')
    await expect(mine.open(spec, never)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    expect(await backend.attach(spec, never)).toBeDefined()
  })

  test('is not opened once the wish for it is withdrawn', async () => {
    const spec = obedient.spec()
    await expect(backend.open(spec, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled')
    await expect(docker.getContainer(containerName(spec)).inspect()).rejects.toMatchObject({ statusCode: 404 })
  })
})

describeDocker('a sandbox whose runner ends at once', () => {
  const broken = new TestBackend('import sys\nsys.exit("no runner today")\n')
  const backend = broken.backend()

  beforeAll(async () => {
    await backend.ensureImage()
  })
  afterAll(() => broken.close())

  test('is noticed, with its last words', async () => {
    const connection = await backend.open(broken.spec(), never)
    expect(await connection.ended).toEqual({ reason: 'exited', exitCode: 1, diagnostics: 'no runner today' })
  })
})
