import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { LineQueue } from './line-queue.js'

it('returns the lines of piped text without a byte order mark', async () => {
  const lines = new LineQueue(createInterface({ input: Readable.from(['\uFEFFx = 1\r\n', '\uFEFFy\n']) }))
  expect([await lines.next(), await lines.next(), await lines.next()]).toEqual(['x = 1', '\uFEFFy', undefined])
})
