import { expect, it } from 'vitest'
import { truncateMiddle } from './text.js'
import { areTextRanges, cutRanges, moveRanges, splitText, type TextRange } from './text-ranges.js'

it.each<[string, readonly TextRange[], boolean]>([
  ['none', [], true],
  ['the whole text', [[0, 3]], true],
  [
    'two that touch',
    [
      [0, 1],
      [1, 3],
    ],
    true,
  ],
  ['one beyond the end', [[0, 4]], false],
  ['an empty one', [[1, 1]], false],
  ['an inverted one', [[2, 1]], false],
  [
    'two that overlap',
    [
      [0, 2],
      [1, 3],
    ],
    false,
  ],
])('ranges of a text: %s', (_what, ranges, expected) => {
  expect(areTextRanges(ranges, 3)).toBe(expected)
})

it('ranges stay with their text when the middle is cut', () => {
  const text = `${'a'.repeat(10)}${'B'.repeat(5)}${'c'.repeat(70)}${'D'.repeat(5)}${'e'.repeat(10)}`
  const ranges: TextRange[] = [
    [10, 15],
    [40, 50],
    [85, 90],
  ]
  const cut = truncateMiddle(text, 40)
  const { inside, outside } = splitText(cut, cutRanges(ranges, 40, text.length, cut.length))
  expect(inside).toMatch(/^B{5}[^a-zA-Z]*D{5}$/)
  expect(outside).not.toMatch(/[BD]/)
  expect(cutRanges([[15, 85]], 40, text.length, cut.length)).toEqual([[15, cut.length - 15]])
  expect(cutRanges(ranges, 200, text.length, text.length)).toEqual(ranges)
})

it('ranges move with a text behind another', () => {
  expect(moveRanges([[0, 1]], 5)).toEqual([[5, 6]])
})
