import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createWasmBackend } from '../../src/sandbox/wasm/backend.js'
import { Attacker, attackRunnerFolder, processesWith, type Reply, specOf } from './wasm-support.js'

const signal = new AbortController().signal

/** A folder of caches, and what runs with it. */
class Cache {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'ptc-cache-'))
  readonly #runner = attackRunnerFolder()

  constructor() {
    onTestFinished(() => {
      for (const folder of [this.folder, this.#runner]) rmSync(folder, { recursive: true, force: true })
    })
  }

  /** A worker of its own, and its first sandbox. */
  async start(cache = this.folder) {
    const backend = createWasmBackend({ warm: 0, runner: this.#runner, cache })
    onTestFinished(() => backend.close())
    let sessions = 0
    /** What the code leaves in `answer`, in a new sandbox; and whether that was laid over the image. */
    const run = async (source: string): Promise<Reply & { readonly isLaidOver: boolean }> => {
      const spec = specOf(`session-${(sessions += 1)}`)
      const attacker = new Attacker(await backend.open(spec, signal))
      const isLaidOver = (await processesWith(this.#runner, 'boot.image')).length > 0
      const reply = await attacker.run(source)
      await backend.remove(spec)
      return { ...reply, isLaidOver }
    }
    return run
  }

  /** A folder that can't be made. */
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

test('it is made at the first start, and every Python after it is laid over it, whoever starts it', async () => {
  const cache = new Cache()
  const run = await cache.start()
  expect(await run(sum)).toEqual({ answer: 45, isLaidOver: true })
  const made = statSync(cache.image).mtimeMs
  expect(await run(sum)).toEqual({ answer: 45, isLaidOver: true })
  const other = await cache.start()
  expect(await other(sum)).toEqual({ answer: 45, isLaidOver: true })
  expect(statSync(cache.image).mtimeMs).toBe(made)
  expect(readdirSync(path.dirname(cache.image))).toEqual(['boot.image'])
})

test('`ptc doctor` says whether it is kept, yet to be made, or why it never will be', async () => {
  const cache = new Cache()
  const check = (folder: string) => createWasmBackend({ warm: 0, cache: folder }).check()
  const fresh = path.join(cache.folder, 'not', 'yet')
  expect((await check(fresh)).summary).toMatch(
    /; the image of a booted Python is yet to be made, by the first start, in /,
  )
  expect(existsSync(path.dirname(fresh))).toBe(false)
  const run = await cache.start()
  await run(sum)
  expect((await check(cache.folder)).summary).toContain(`is kept in ${path.dirname(cache.image)}`)
  writeFileSync(cache.image, '!', { flag: 'r+' })
  expect((await check(cache.folder)).summary).toContain('yet to be made')
  const impossible = await check(cache.unusable)
  expect(impossible).toMatchObject({ usable: true, summary: expect.not.stringContaining('image') })
  expect(impossible.problems).toContainEqual({
    severity: 'warning',
    message: expect.stringMatching(/^the image of a booted Python can't be kept in .*a-file.*: .*; each sandbox takes/),
    remedy: expect.stringContaining('XDG_CACHE_HOME'),
  })
})

test('one that has another byte in it is made again by the next worker', async () => {
  const cache = new Cache()
  const run = await cache.start()
  await run(sum)
  const { size } = statSync(cache.image)
  writeFileSync(cache.image, '!', { flag: 'r+' })
  const abandoned = `${cache.image}.begun`
  writeFileSync(abandoned, 'by a worker that was killed')
  utimesSync(abandoned, 0, 0)
  const next = await cache.start()
  expect(await next(sum)).toEqual({ answer: 45, isLaidOver: true })
  expect(statSync(cache.image).size).toBe(size)
  expect(readdirSync(path.dirname(cache.image))).toEqual(['boot.image'])
})

test('a cache that is cleared under a worker costs it one slow start', async () => {
  const cache = new Cache()
  const run = await cache.start()
  await run(sum)
  for (const name of readdirSync(cache.folder)) rmSync(path.join(cache.folder, name), { recursive: true })
  expect(await run(sum)).toEqual({ answer: 45, isLaidOver: false })
  expect(await run(sum)).toEqual({ answer: 45, isLaidOver: true })
})

test('where it can not be kept, Python boots', async () => {
  const cache = new Cache()
  const run = await cache.start(cache.unusable)
  expect(await run(sum)).toEqual({ answer: 45, isLaidOver: false })
})

test('it is the Python that boots, but for what is random', async () => {
  const cache = new Cache()
  const [laidOver, booted] = await Promise.all([cache.start(), cache.start(cache.unusable)])
  const same = `
import os, sys
answer = [sorted(sys.modules), hash('text'), list({str(n) for n in range(50)}), dict(os.environ), str(sys.flags), sys.path, os.getcwd(),
  sorted(os.listdir('/')), sys.getrecursionlimit(), sorted(__builtins__ if isinstance(__builtins__, dict) else dir(__builtins__))]`
  const [one, other] = [await laidOver(same), await booted(same)]
  expect([one.isLaidOver, other.isLaidOver]).toEqual([true, false])
  expect(one.answer).toBe(other.answer)
  const draw = `
import os, random, ssl, uuid
answer = ' '.join([os.urandom(8).hex(), str(random.random()), uuid.uuid4().hex, ssl.RAND_bytes(8).hex()])`
  const drawn = [await laidOver(draw), await laidOver(draw)].flatMap(({ answer }) => String(answer).split(' '))
  expect(new Set(drawn).size).toBe(8)
})
