import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { deferred } from '../../common/async/deferred.js'
import { ImageContents } from './image-contents.js'

const cache = mkdtempSync(join(tmpdir(), 'ptc-'))
vi.stubEnv('XDG_CACHE_HOME', cache)
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(cache, { recursive: true })
})

const none = { names: [], more: 0 }
const answer = { languages: { python: '3.11.2' }, packages: { apt: none, pip: none, npm: none } }

it('an image is asked once, also when the run that asked first is cancelled', async () => {
  const [asked, released] = [deferred<void>(), deferred<void>()]
  const start = vi.fn(async (_program: unknown, signal: AbortSignal) => {
    asked.resolve()
    await released.promise
    signal.throwIfAborted()
    return {
      description: 'an image',
      // oxlint-disable-next-line require-await
      received: (async function* () {
        yield Buffer.from(JSON.stringify(answer))
      })(),
      send: () => Promise.resolve(),
      ended: new Promise<never>(() => undefined),
      interrupt: () => Promise.resolve(false),
      kill: () => Promise.resolve(),
      detach: () => Promise.resolve(),
    }
  })
  const contents = new ImageContents({ resolve: () => Promise.resolve('sha256:one') }, start)
  const cancelled = new AbortController()
  const first = contents.of(undefined, cancelled.signal)
  await asked.promise
  const second = contents.of(undefined, new AbortController().signal)
  cancelled.abort(new Error('cancelled'))
  await expect(first).rejects.toThrow('cancelled')
  released.resolve()
  expect(await second).toMatchObject({ programs: ['Python 3.11.2'], languages: ['python'] })
  expect(start).toHaveBeenCalledTimes(1)
})
