import { expect, it } from 'vitest'
import { callersOf } from './callers.js'
import { invalidTool } from './invalid-tool.js'

const invalid = invalidTool('pay')

it('lets both call a tool that names no callers, and offers it to code', () => {
  expect(callersOf({}, invalid)).toEqual({
    allowedCallers: ['direct', 'code_execution'],
    offeredTo: ['code_execution'],
  })
})

it('takes the callers as the Messages API names them', () => {
  const both = ['direct', 'code_execution']
  expect(
    callersOf({ allowedCallers: ['code_execution_20260120', 'direct', 'code_execution_20250825'] }, invalid),
  ).toEqual({ allowedCallers: both, offeredTo: both })
  expect(callersOf({ allowedCallers: ['code_execution_20260521'] }, invalid).allowedCallers).toEqual(['code_execution'])
})
