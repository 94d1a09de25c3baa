import { expect, it } from 'vitest'
import { callersOf } from './callers.js'
import { invalidTool } from './invalid-tool.js'

const invalid = invalidTool('pay')

it('a tool without callers may be called by both, and is documented for code', () => {
  expect(callersOf({}, invalid)).toEqual({
    allowedCallers: ['direct', 'code_execution'],
    offeredTo: ['code_execution'],
  })
})

it('accepts callers with their names in the Messages API', () => {
  const both = ['direct', 'code_execution']
  expect(
    callersOf({ allowedCallers: ['code_execution_20260120', 'direct', 'code_execution_20250825'] }, invalid),
  ).toEqual({ allowedCallers: both, offeredTo: both })
  expect(callersOf({ allowedCallers: ['code_execution_20260521'] }, invalid).allowedCallers).toEqual(['code_execution'])
})
