import { describe, expect, it } from 'vitest'
import { formatLogEntry, watchdogLogFor } from './worker-log.js'

const entry = { level: 'WARN', message: 'Slow', timestampNanos: 1_700_000_000_123_456_789n } as const

describe('formatLogEntry', () => {
  it('returns one line with time, level, message and fields', () => {
    const meta = { taskQueue: 'durable-ptc.model', note: 'two words', attempt: 2, nothing: undefined, token: 3n }
    expect(formatLogEntry({ ...entry, meta })).toBe(
      '2023-11-14T22:13:20.123Z WARN  Slow taskQueue=durable-ptc.model note="two words" attempt=2 token="3"',
    )
  })

  it('makes control characters and direction marks visible', () => {
    const hostile = '\u001B[2J\u009B31m\u202Etxt.exe\nWARN  forged'
    const line = formatLogEntry({ ...entry, message: hostile, meta: { note: hostile, nested: { note: hostile } } })
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(line).toContain('␛[2J<U+009B>31m<U+202E>txt.exe WARN  forged')
  })

  it('omits task tokens and truncates long texts', () => {
    const token = 'A'.repeat(500)
    const meta = { taskToken: token, task_token: token, nested: { taskToken: token, id: 1 }, long: `${token} x` }
    const line = formatLogEntry({ ...entry, message: 'm'.repeat(5_000), meta })
    expect(line).toContain('nested={"id":1} long="')
    expect(line.length).toBeLessThan(2_500)
    expect(line).not.toContain(token)
  })

  it('puts stacks on separate lines', () => {
    const error = Object.assign(new Error('broken'), { stack: 'Error: broken\n    at run (tool.ts:1:2)' })
    const lines = '\n    Error: broken\n    at run (tool.ts:1:2)'
    for (const meta of [
      { error, workflowId: 'w' },
      { workflowId: 'w', stack: error.stack },
    ]) {
      expect(formatLogEntry({ ...entry, meta })).toBe(`2023-11-14T22:13:20.123Z WARN  Slow workflowId=w${lines}`)
    }
  })

  it('puts an error without a stack on the same line', () => {
    const bare = Object.assign(new Error('broken:\n  twice'), { stack: '' })
    expect(formatLogEntry({ ...entry, meta: { error: bare, workflowId: 'w' } })).toBe(
      '2023-11-14T22:13:20.123Z WARN  Slow error="Error: broken:\\n  twice" workflowId=w',
    )
    const long = Object.assign(new Error('x'.repeat(5_000)), { stack: undefined })
    expect(formatLogEntry({ ...entry, meta: { error: long } }).length).toBeLessThan(2_100)
    expect(formatLogEntry({ ...entry, meta: { stack: '', workflowId: 'w' } })).not.toContain('\n')
  })
})

describe('watchdogLogFor', () => {
  it('returns false when warnings are not logged', () => {
    expect((['DEBUG', 'INFO', 'WARN', 'ERROR'] as const).map(watchdogLogFor)).toEqual([
      undefined,
      undefined,
      undefined,
      false,
    ])
  })
})
