import { expect, test } from 'vitest'
import { recordedTree } from '../../../test/run-tree/recorded.js'
import { renderTable } from './render-table.js'
import { summaryRows } from './run-summary.js'
import { widthOf } from './width.js'

test('amounts stand to the right, words to the left', () => {
  const rows = [
    ['what', 'with code', 'remark'],
    ['tokens', '1,234', '東京'],
    ['cost', '$0.02', 'ok'],
  ]
  expect(renderTable(rows, { width: 80, color: false, header: true })).toBe(
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

test('a table that is too wide gives way where it is widest', () => {
  const drawn = renderTable(
    [
      ['a long label of a row', '1'],
      ['b\x1b[2J', '22'],
    ],
    { width: 20, color: false },
  )
  expect(drawn.split('\n').map(widthOf)).toEqual([20, 20, 20, 20])
  expect(drawn).toContain('a long lab…')
  expect(drawn).toContain('␛[2J')
})

test('rows of different length, and none at all, are no error', () => {
  expect(renderTable([], { width: 80, color: false })).toBe('')
  expect(renderTable([['a'], ['b', '2']], { width: 80, color: false }).split('\n')).toHaveLength(4)
})

test('a run is summed up with what it would have taken with direct calls', async () => {
  const rows = new Map(summaryRows(await recordedTree('answered')))
  expect(rows.get('turns')).toBe('3')
  expect(rows.get('tool calls')).toBe('6')
  expect(rows.get('tokens that reached the model')).toBe('3,149')
  expect(rows.get('the same with direct calls (estimate, 4 turns)')).toMatch(/^~\d,\d00$/)
  expect(rows.get('cost')).toBe('$0.0086')
  expect([...new Map(summaryRows(await recordedTree('program'))).keys()].join()).not.toContain('direct')
})
