import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { spool } from './spool.js'

afterEach(() => vi.unstubAllEnvs())

test('an error of the temporary folder names this folder, and not the store', async () => {
  const missing = join(import.meta.dirname, 'missing')
  vi.stubEnv('TMPDIR', missing)
  await expect(spool([new Uint8Array(2 * 1024 * 1024)], new AbortController().signal)).rejects.toMatchObject({
    code: 'VALUE_STORE_UNAVAILABLE',
    message: expect.stringContaining(`the temporary folder ${missing}`),
    hint: expect.stringContaining('TMPDIR'),
  })
})
