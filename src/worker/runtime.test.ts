import { expect, test } from 'vitest'
import { queryRefused } from '../common/queries.js'
import { isExpected } from './runtime.js'

test.each([
  ['Activity not found on completion. This may happen if the activity has already been cancelled', undefined],
  ['No workflows registered, not polling for workflow tasks', undefined],
  ['Failing workflow task', { failure: `Failure { message: "${queryRefused}" }` }],
  [`a query failed: ${queryRefused}`, undefined],
])('%s (%j) is expected, and left out of the log', (message, meta) => {
  expect(isExpected({ message, ...(meta && { meta }) })).toBe(true)
})

test.each([
  ['Activity failed', { error: new Error('Activity not found on completion') }],
  ['Failing workflow task', { failure: 'Failure { message: "out of memory" }' }],
  ['the tool said: Activity not found on completion', undefined],
  ['Activity not found', undefined],
])('%s (%j) is logged', (message, meta) => {
  expect(isExpected({ message, ...(meta && { meta }) })).toBe(false)
})
