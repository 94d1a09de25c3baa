import { createCipheriv, createHash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { code, call, answerResult, turn } from '../../support/script.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { filesIn } from '../../support/folders.js'
import { Deferred, tool } from '../../support/tools.js'

const mebibyte = 1024 * 1024

/** A text of this many bytes without repetition, generated quickly. */
function longText(bytes: number): string {
  const key = Buffer.alloc(16)
  const noise = createCipheriv('aes-128-ctr', key, key).update(Buffer.alloc(Math.ceil(bytes / 2)))
  return noise.toString('hex').slice(0, bytes)
}

const textTool = tool('text', ({ bytes }) => longText(Number(bytes)))

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex')
}

describe('a large value', () => {
  it.each([
    ['docker', 3],
    ['docker', 50],
    ['wasm', 5],
  ] as const)(
    'F29: a large value reaches code in %s unchanged, and is not stored in the history: %i MB',
    async (backend, megabytes) => {
      const env = await TestEnvironment.start({
        tools: [textTool],
        backend,
        limits: { memoryBytes: 1024 * mebibyte, cellSeconds: 300 },
      })
      const { outcome } = await env.runProgram(`
import hashlib
value = await text(bytes=${megabytes * mebibyte})
print(hashlib.sha256(value.encode()).hexdigest())
`)
      expect(outcome).toMatchObject({ status: 'ok', output: `${sha256(longText(megabytes * mebibyte))}\n` })
      expect(await env.historyBytes()).toBeLessThan(20_000)
    },
    300_000,
  )

  it('F29: a large value over the limit is refused before it is stored, and the code gets an error', async () => {
    const huge = tool('huge', () => Array.from({ length: 500 }, () => 'x'.repeat(mebibyte)))
    const env = await TestEnvironment.start({ tools: [huge] })
    const { outcome } = await env.runProgram('try: await huge()\nexcept ToolError as error: print(error.status, error)')
    expect(outcome.output).toMatch(/^tool_error .*result of huge.*limit is 67108864/)
  })

  it('a large value in arguments of a call is stored externally', async () => {
    const measure = tool('measure', ({ value }) => (value as string).length)
    const env = await TestEnvironment.start({ tools: [measure] })
    const { outcome } = await env.runProgram('print(await measure(value="x" * 200_000))')
    expect(outcome).toMatchObject({ status: 'ok', output: '200000\n' })
    expect(await env.historyBytes()).toBeLessThan(20_000)
  })

  it('a large value that code prints is complete in the result, up to the limit', async () => {
    const env = await TestEnvironment.start({ limits: { outputCharacters: 100_000 } })
    const { outcome } = await env.runProgram('for n in range(9): print(str(n) * 9_999)')
    const expected = Array.from({ length: 9 }, (_, n) => `${String(n).repeat(9_999)}\n`).join('')
    expect(outcome.output).toBe(expected)
  })

  it('a large value is truncated to head and tail for the model', async () => {
    const env = await TestEnvironment.start({
      tools: [textTool],
      limits: { outputCharacters: 1_000 },
      script: [turn(call('text', { bytes: 10 * mebibyte }), code('print("y" * 9_000)')), answerResult],
    })
    await env.runAgent()
    const whole = JSON.stringify(longText(10 * mebibyte))
    const [direct, cell] = env.lastUserContent() as { readonly content: string }[]
    expect(direct?.content).toContain(whole.slice(0, 400))
    expect(direct?.content).toContain(whole.slice(-400))
    expect(direct?.content.length).toBeLessThan(1_200)
    expect(cell?.content).toMatch(
      /^y{500}\n\[\.{3} 8001 characters cut \.{3}\]\ny{499}\n\(Not the whole result: read_more\(/,
    )
    expect(await env.historyBytes()).toBeLessThan(30_000)
  })

  it('a large value is available again when the sandbox is rebuilt', async () => {
    const arrived = new Deferred()
    const release = new Deferred<string>()
    const wait = tool('wait', () => {
      arrived.resolve()
      return release.promise
    })
    let runs = 0
    const once = tool('once', () => {
      runs += 1
      return longText(3 * mebibyte)
    })
    const env = await TestEnvironment.start({ tools: [once, wait] })
    const handle = await env.startProgram('value = await once()\nawait wait()\nprint(len(value))')
    await arrived.promise
    await env.killContainers(handle)
    release.resolve('go')
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: `${3 * mebibyte}\n` } })
    expect(runs).toBe(1)
    await env.expectCleanEnd(handle)
  })

  it.each([
    ['was removed by hand', 'VALUE_MISSING', rm],
    ['was changed by hand', 'VALUE_CORRUPT', (file: string) => writeFile(file, '"something else"')],
  ])(
    'a large value that %s fails the run with a typed error, which names the part that needed it',
    async (_how, type, damage) => {
      const arrived = new Deferred()
      const release = new Deferred<string>()
      const wait = tool('wait', () => {
        arrived.resolve()
        return release.promise
      })
      const env = await TestEnvironment.start({ tools: [textTool, wait] })
      const handle = await env.startProgram('value = await text(bytes=9_000)\nawait wait()\nprint(len(value))')
      await arrived.promise
      for (const file of await filesIn(env.valuesDirectory)) await damage(file)
      // A worker that has the value in its cache would not need the store.
      await env.workers.stop()
      await env.killContainers(handle)
      await env.workers.start()
      release.resolve('go')
      const thrown: unknown = await handle.result().catch((error: unknown) => error)
      expect(thrown).toMatchObject({
        cause: { cause: { type, message: expect.stringMatching(/^the result of call 1 of/) } },
      })
      await env.expectCleanEnd(handle)
    },
  )

  it('hundreds of large values leave a history that replays without reading any of them', async () => {
    const env = await TestEnvironment.start({ tools: [textTool] })
    const { outcome } = await env.runProgram(`
import asyncio
print(sum(len(value) for value in await asyncio.gather(*(text(bytes=${mebibyte} + n) for n in range(100)))))
`)
    expect(outcome).toMatchObject({ status: 'ok', output: `${100 * mebibyte + 4_950}\n` })
    expect(await env.historyBytes()).toBeLessThan(300_000)
    await rm(env.valuesDirectory, { recursive: true })
    await env.expectCleanEnd(env.lastRun)
  })
})
