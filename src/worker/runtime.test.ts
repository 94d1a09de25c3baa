import { expect, test } from 'vitest'
import { queryRefusedMessage } from '../common/names.js'
import { isExpectedWarning } from './runtime.js'

test.each([
  ['Activity not found on completion. This may happen if the activity has already been cancelled', undefined],
  ['No workflows registered, not polling for workflow tasks', undefined],
  ['Failing workflow task', { failure: `Failure { message: "${queryRefusedMessage}" }` }],
  [`a query failed: ${queryRefusedMessage}`, undefined],
])('%s (%j) is expected, and left out of the log', (message, meta) => {
  expect(isExpectedWarning({ message, ...(meta && { meta }) })).toBe(true)
})

test.each([
  ['Activity failed', { error: new Error('Activity not found on completion') }],
  ['Failing workflow task', { failure: 'Failure { message: "out of memory" }' }],
  ['the tool said: Activity not found on completion', undefined],
  ['Activity not found', undefined],
])('%s (%j) is logged', (message, meta) => {
  expect(isExpectedWarning({ message, ...(meta && { meta }) })).toBe(false)
})
