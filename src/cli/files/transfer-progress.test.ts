import { expect, it } from 'vitest'
import { TransferProgress } from './transfer-progress.js'

function written(isTTY: boolean, total: number | undefined, ...pieces: readonly number[]): string {
  let text = ''
  const write = (piece: string) => (text += piece)
  {
    using progress = new TransferProgress({ isTTY, columns: 40, write } as unknown as NodeJS.WriteStream)
    progress.begin('/tmp/out/a\u001B[31m.bin', total)
    for (const piece of pieces) progress.add(piece)
  }
  return text
}

it('shows the progress of a large file on a terminal, and removes it at the end', () => {
  const text = written(true, 30_000_000, 6_000_000)
  const clear = '\r\u001B[K'
  expect(text.startsWith(`${clear}5.7 MB of 28.6 MB  /tmp/out/a`)).toBe(true)
  expect(text.endsWith(clear)).toBe(true)
  expect(text).not.toContain('\u001B[31m')
  expect(written(true, undefined, 6_000_000, 6_000_000)).toContain('11.4 MB  /tmp/out')
})

it('shows nothing for a small file, and nothing without a terminal', () => {
  expect(written(true, 1_000_000, 1_000_000)).toBe('')
  expect(written(false, 30_000_000, 30_000_000)).toBe('')
})
