import { expect, test } from 'vitest'
import { displayWidth } from '../text/display-width.js'
import { renderColumns } from './column-table.js'

const rows = [
  ['ID', 'STATE', 'STARTED', 'LASTED', 'ABOUT'],
  ['agent-x4k2m9pqrs', 'completed', '2m 3s ago', '1m 1s', 'Which engineers exceeded their travel budget?'],
]

test('a table aligns columns at their natural width', () => {
  expect(renderColumns(rows, undefined)).toBe(
    [
      'ID                STATE      STARTED    LASTED  ABOUT',
      'agent-x4k2m9pqrs  completed  2m 3s ago  1m 1s   Which engineers exceeded their travel budget?',
    ].join('\n'),
  )
})

test.each([
  [60, ['ID', 'STATE', 'STARTED', 'LASTED', 'ABOUT'], 'Which engin…'],
  [50, ['ID', 'STATE', 'STARTED', 'LASTED', 'ABOUT'], 'complet…'],
  [30, ['ID', 'STATE'], 'comp…'],
  [16, ['ID'], 'agent-x4k2m9pqrs'],
])('a table with %i columns cuts no heading', (width, heading, cut) => {
  const lines = renderColumns(rows, width).split('\n')
  expect(lines[0]?.split(/ +/)).toEqual(heading)
  expect(lines[1]).toContain(cut)
  expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width)
})
