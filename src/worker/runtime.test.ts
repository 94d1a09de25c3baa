import { Runtime } from '@temporalio/worker'
import { expect, test } from 'vitest'
import { queryRefusedMessage } from '../common/names.js'
import { causeOfFailure, installRuntime, isExpectedWarning, safeLog } from './runtime.js'

test.each([
  ['Activity not found on completion. This may happen if the activity has already been cancelled', undefined],
  ['No workflows registered, not polling for workflow tasks', undefined],
  ['Failing workflow task', { failure: `Failure { message: "${queryRefusedMessage}" }` }],
  [`a query failed: ${queryRefusedMessage}`, undefined],
])('the log entry %s (%j) is expected, and left out of the log', (message, meta) => {
  expect(isExpectedWarning({ message, ...(meta && { meta }) })).toBe(true)
})

test.each([
  ['Activity failed', { error: new Error('Activity not found on completion') }],
  ['Failing workflow task', { failure: 'Failure { message: "out of memory" }' }],
  ['the tool said: Activity not found on completion', undefined],
  ['Activity not found', undefined],
])('the log entry %s (%j) is logged', (message, meta) => {
  expect(isExpectedWarning({ message, ...(meta && { meta }) })).toBe(false)
})

test("the cause of a worker's failure is the first logged error, not the error of the shutdown", () => {
  installRuntime('ERROR', () => undefined)
  const ended = new Error('Workflow execution context should have been disposed first')
  expect(causeOfFailure(ended)).toBe(ended)
  for (const message of ['the cause', 'a consequence']) {
    Runtime.instance().logger.error('Worker failed', { error: new Error(message) })
  }
  expect(causeOfFailure(ended)).toMatchObject({ message: 'the cause' })
  expect(causeOfFailure(ended)).toBe(ended)
})

test('logs an entry without its fields when reading them throws', () => {
  const messages: unknown[] = []
  const log = safeLog('INFO', ({ message, meta }) => messages.push([message, JSON.stringify(meta)]))
  const hostile = new Proxy({}, { get: () => fail(), getPrototypeOf: () => fail() })
  for (const value of [Object.create(null), hostile, 1n])
    log({ level: 'WARN', message: 'a tool', timestampNanos: 0n, meta: { value } })
  expect(messages).toHaveLength(3)
  for (const entry of messages) expect(entry).toEqual(['a tool', expect.stringContaining('could not be read')])
})

function fail(): never {
  throw new Error('hostile')
}
