import { expect, test } from 'vitest'
import { recordedTree } from '../../../../test/fixtures/run-tree/recorded.js'
import { renderBoxTable } from './box-table.js'
import { summaryRows } from '../../demo/run-summary.js'
import { displayWidth } from '../text/display-width.js'

test('a box table aligns amounts to the right and words to the left', () => {
  const rows = [
    ['what', 'with code', 'remark'],
    ['tokens', '1,234', '東京'],
    ['cost', '$0.02', 'ok'],
  ]
  expect(renderBoxTable(rows, { width: 80, color: false, header: true })).toBe(
    [
      '┌────────┬───────────┬────────┐',
      '│ what   │ with code │ remark │',
      '├────────┼───────────┼────────┤',
      '│ tokens │     1,234 │ 東京   │',
      '│ cost   │     $0.02 │ ok     │',
      '└────────┴───────────┴────────┘',
    ].join('\n'),
  )
})

test('a box table narrows its widest column when it is too wide', () => {
  const drawn = renderBoxTable(
    [
      ['a long label of a row', '1'],
      ['b\x1b[2J', '22'],
    ],
    { width: 20, color: false },
  )
  expect(drawn.split('\n').map(displayWidth)).toEqual([20, 20, 20, 20])
  expect(drawn).toContain('a long lab…')
  expect(drawn).toContain('␛[2J')
})

test('a box table accepts rows of different lengths, and no rows', () => {
  expect(renderBoxTable([], { width: 80, color: false })).toBe('')
  expect(renderBoxTable([['a'], ['b', '2']], { width: 80, color: false }).split('\n')).toHaveLength(4)
})

test('renders the summary of a run', async () => {
  const rows = new Map(summaryRows(await recordedTree('answered')))
  expect(rows.get('turns')).toBe('3')
  expect(rows.get('tool calls')).toBe('6')
  expect(rows.get('tokens that reached the model')).toBe('3,481')
  expect(rows.get('the same with direct calls (estimate, 4 turns)')).toMatch(/^~\d,\d00$/)
  expect(rows.get('cost')).toBe('$0.0073')
  expect([...new Map(summaryRows(await recordedTree('program'))).keys()].join()).not.toContain('direct')
})
