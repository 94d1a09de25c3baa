import { expect, it } from 'vitest'
import { textBlock } from './text-block.js'

const styles = (text: string, stderr: readonly (readonly [number, number])[], limit?: number) =>
  textBlock(text, { columns: 80, limit, stderr }).map((line) => line.map(({ text: shown, style }) => [shown, style]))

it('a block of output has the lines with text of stderr in yellow, also behind empty lines', () => {
  expect(
    styles('\n \na\r\nb\ncd\n\n', [
      [6, 7],
      [9, 10],
    ]),
  ).toEqual([[['a', 'plain']], [['b', 'yellow']], [['cd', 'yellow']]])
})

it('a block of output counts the lines that it leaves out', () => {
  const text = Array.from({ length: 10 }, (_, number) => `${number}\n`).join('')
  expect(styles(text, [[2, 4]], 2)).toEqual([[['0', 'plain']], [['1', 'yellow']], [['… 8 more lines', 'dim']]])
})

it('a block of ranges beyond its text has no other lines', () => {
  expect(styles('a', [[5, 9]])).toEqual([[['a', 'plain']]])
  expect(styles('', [[0, 1]])).toEqual([])
})
