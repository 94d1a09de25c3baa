import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createWasmBackend } from '../../../../src/sandbox/wasm/backend.js'
import { createSpec } from '../../../support/sandbox/create-spec.js'
import { AttackClient, createAttackRunner, findProcesses, type Reply } from '../../../support/sandbox/wasm-sandbox.js'

const signal = new AbortController().signal

/** A cache folder, and sandboxes that use it. */
class CacheFixture {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'ptc-cache-'))
  readonly #runner = createAttackRunner()

  constructor() {
    onTestFinished(() => {
      for (const folder of [this.folder, this.#runner]) rmSync(folder, { recursive: true, force: true })
    })
  }

  /** Creates a backend, like that of a new worker, and returns a function that runs code in a new sandbox. */
  async start(cache = this.folder) {
    const backend = createWasmBackend({ warm: 0, runner: this.#runner, cache })
    onTestFinished(() => backend.close())
    let sessions = 0
    /** Returns the value of `answer`, and whether the sandbox was restored from the boot image. */
    const run = async (source: string): Promise<Reply & { readonly usedBootImage: boolean }> => {
      const spec = createSpec(`session-${(sessions += 1)}`)
      const attacker = new AttackClient(await backend.open(spec, signal))
      const usedBootImage = (await findProcesses(this.#runner, 'boot.image')).length > 0
      const reply = await attacker.run(source)
      await backend.remove(spec)
      return { ...reply, usedBootImage }
    }
    return run
  }

  /** A folder that can't be created. */
  get unusable(): string {
    const file = path.join(this.folder, 'a-file')
    writeFileSync(file, '')
    return path.join(file, 'folder')
  }

  get image(): string {
    const [folder = ''] = readdirSync(this.folder)
    return path.join(this.folder, folder, 'boot.image')
  }
}

const sum = 'answer = sum(range(10))'

test('the first start creates the boot image, and later starts of all workers use it', async () => {
  const cache = new CacheFixture()
  const run = await cache.start()
  expect(await run(sum)).toEqual({ answer: 45, usedBootImage: true })
  const made = statSync(cache.image).mtimeMs
  expect(await run(sum)).toEqual({ answer: 45, usedBootImage: true })
  const other = await cache.start()
  expect(await other(sum)).toEqual({ answer: 45, usedBootImage: true })
  expect(statSync(cache.image).mtimeMs).toBe(made)
  expect(readdirSync(path.dirname(cache.image))).toEqual(['boot.image'])
})

test('check reports whether the boot image is cached, missing, or why it is unavailable', async () => {
  const cache = new CacheFixture()
  const check = (folder: string) => createWasmBackend({ warm: 0, cache: folder }).check()
  const fresh = path.join(cache.folder, 'not', 'yet')
  expect((await check(fresh)).summary).toContain('; the first start creates the boot image in ')
  expect(existsSync(path.dirname(fresh))).toBe(false)
  const run = await cache.start()
  await run(sum)
  expect((await check(cache.folder)).summary).toContain(`is cached in ${path.dirname(cache.image)}`)
  writeFileSync(cache.image, '!', { flag: 'r+' })
  expect((await check(cache.folder)).summary).toContain('the first start creates the boot image')
  const impossible = await check(cache.unusable)
  expect(impossible).toMatchObject({ usable: true, summary: expect.not.stringContaining('image') })
  expect(impossible.problems).toContainEqual({
    severity: 'warning',
    message: expect.stringMatching(/^the boot image can't be cached in .*a-file.*: .*; each sandbox takes/),
    remedy: expect.stringContaining('XDG_CACHE_HOME'),
  })
})

test('the next worker creates a damaged boot image again', async () => {
  const cache = new CacheFixture()
  const run = await cache.start()
  await run(sum)
  const { size } = statSync(cache.image)
  writeFileSync(cache.image, '!', { flag: 'r+' })
  const abandoned = `${cache.image}.begun`
  writeFileSync(abandoned, 'by a worker that was killed')
  utimesSync(abandoned, 0, 0)
  const next = await cache.start()
  expect(await next(sum)).toEqual({ answer: 45, usedBootImage: true })
  expect(statSync(cache.image).size).toBe(size)
  expect(readdirSync(path.dirname(cache.image))).toEqual(['boot.image'])
})

test('after the cache is cleared, a worker creates the boot image again', async () => {
  const cache = new CacheFixture()
  const run = await cache.start()
  await run(sum)
  for (const name of readdirSync(cache.folder)) rmSync(path.join(cache.folder, name), { recursive: true })
  expect(await run(sum)).toEqual({ answer: 45, usedBootImage: false })
  expect(await run(sum)).toEqual({ answer: 45, usedBootImage: true })
})

test("Python boots when the boot image can't be cached", async () => {
  const cache = new CacheFixture()
  const run = await cache.start(cache.unusable)
  expect(await run(sum)).toEqual({ answer: 45, usedBootImage: false })
})

test('a restored Python equals one that booted, except for random numbers', async () => {
  const cache = new CacheFixture()
  const [restored, booted] = await Promise.all([cache.start(), cache.start(cache.unusable)])
  const same = `
import os, sys
answer = [sorted(sys.modules), hash('text'), list({str(n) for n in range(50)}), dict(os.environ), str(sys.flags), sys.path, os.getcwd(),
  sorted(os.listdir('/')), sys.getrecursionlimit(), sorted(__builtins__ if isinstance(__builtins__, dict) else dir(__builtins__))]`
  const [one, other] = [await restored(same), await booted(same)]
  expect([one.usedBootImage, other.usedBootImage]).toEqual([true, false])
  expect(one.answer).toBe(other.answer)
  const draw = `
import os, random, ssl, uuid
answer = ' '.join([os.urandom(8).hex(), str(random.random()), uuid.uuid4().hex, ssl.RAND_bytes(8).hex()])`
  const drawn = [await restored(draw), await restored(draw)].flatMap(({ answer }) => String(answer).split(' '))
  expect(new Set(drawn).size).toBe(8)
})
