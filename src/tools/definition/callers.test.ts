import { expect, it } from 'vitest'
import type { AllowedCaller } from '../tool-definition.js'
import { callersOf } from './callers.js'
import { invalidTool } from './invalid-tool.js'

const read = (allowedCallers?: readonly AllowedCaller[]) =>
  callersOf({ definition: { allowedCallers }, invalid: invalidTool('pay') } as never)

it('a tool without callers may be called by both, and is documented for code', () => {
  expect(read()).toEqual({
    allowedCallers: ['direct', 'code_execution'],
    offeredTo: ['code_execution'],
  })
})

it('accepts callers with their names in the Messages API', () => {
  const both = ['direct', 'code_execution']
  expect(read(['code_execution_20260120', 'direct', 'code_execution_20250825'])).toEqual({
    allowedCallers: both,
    offeredTo: both,
  })
  expect(read(['code_execution_20260521']).allowedCallers).toEqual(['code_execution'])
})
