import { describe, expect, it } from 'vitest'
import { unredacted } from '../../common/text/redact.js'
import { formatJsonEntry, formatLogEntry, redactErrors, watchdogLogFor } from './worker-log.js'

const entry = { level: 'WARN', message: 'Slow', timestampNanos: 1_700_000_000_123_456_789n } as const

describe('formatLogEntry', () => {
  it('a log entry is one line with time, level, message and fields', () => {
    const meta = { taskQueue: 'durable-ptc.model', note: 'two words', attempt: 2, nothing: undefined, token: 3n }
    expect(formatLogEntry({ ...entry, meta })).toBe(
      '2023-11-14T22:13:20.123Z WARN  Slow taskQueue=durable-ptc.model note="two words" attempt=2 token="3"',
    )
  })

  it('a log entry shows control characters and direction marks', () => {
    const hostile = '\u001B[2J\u009B31m\u202Etxt.exe\nWARN  forged'
    const line = formatLogEntry({ ...entry, message: hostile, meta: { note: hostile, nested: { note: hostile } } })
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(line).toContain('␛[2J<U+009B>31m<U+202E>txt.exe WARN  forged')
  })

  it('a log entry omits task tokens and truncates long texts', () => {
    const token = 'A'.repeat(500)
    const meta = { taskToken: token, task_token: token, nested: { taskToken: token, id: 1 }, long: `${token} x` }
    const line = formatLogEntry({ ...entry, message: 'm'.repeat(5_000), meta })
    expect(line).toContain('nested={"id":1} long="')
    expect(line.length).toBeLessThan(2_500)
    expect(line).not.toContain(token)
  })

  it('a log entry has stacks on separate lines', () => {
    const error = Object.assign(new Error('broken'), { stack: 'Error: broken\n    at run (tool.ts:1:2)' })
    const lines = '\n    Error: broken\n    at run (tool.ts:1:2)'
    for (const meta of [
      { error, workflowId: 'w' },
      { workflowId: 'w', stack: error.stack },
    ]) {
      expect(formatLogEntry({ ...entry, meta })).toBe(`2023-11-14T22:13:20.123Z WARN  Slow workflowId=w${lines}`)
    }
  })

  it('a log entry has an error without a stack on the same line', () => {
    const bare = Object.assign(new Error('broken:\n  twice'), { stack: '' })
    expect(formatLogEntry({ ...entry, meta: { error: bare, workflowId: 'w' } })).toBe(
      '2023-11-14T22:13:20.123Z WARN  Slow error="Error: broken:\\n  twice" workflowId=w',
    )
    const long = Object.assign(new Error('x'.repeat(5_000)), { stack: undefined })
    expect(formatLogEntry({ ...entry, meta: { error: long } }).length).toBeLessThan(2_100)
    expect(formatLogEntry({ ...entry, meta: { stack: '', workflowId: 'w' } })).not.toContain('\n')
  })
})

describe('redactErrors', () => {
  it('redacts messages and stacks of a log entry, and no other field', () => {
    const lines: string[] = []
    const write = redactErrors(
      (each) => lines.push(formatJsonEntry(each)),
      (text) => text.replaceAll('secret', '…'),
    )
    const error = Object.assign(new TypeError('no secret'), { stack: 'TypeError: no secret\n    at run (tool.ts:1:2)' })
    write({ ...entry, meta: { error, workflowId: 'secret-1' } })
    write({ ...entry, meta: { error: 'secret', stack: 'secret' } })
    write(entry)
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { error: 'no …', stack: 'TypeError: no …\n    at run (tool.ts:1:2)', workflowId: 'secret-1' },
      { error: '…', stack: '…' },
      { message: 'Slow' },
    ])
    expect(error.message).toBe('no secret')
  })

  it('does not change a log entry without a redaction hook', () => {
    const write = () => undefined
    expect(redactErrors(write, unredacted)).toBe(write)
  })
})

describe('formatJsonEntry', () => {
  const parse = (meta: Record<string, unknown>) => JSON.parse(formatJsonEntry({ ...entry, meta })) as unknown

  it('a JSON log entry has stable names for the fields of the SDK and of its core', () => {
    const common = { time: '2023-11-14T22:13:20.123Z', level: 'WARN', message: 'Slow' }
    const expected = { ...common, workflowId: 'w', runId: 'r', attempt: 2, bytes: '3' }
    const tokens = { taskToken: 'A', nested: { taskToken: 'A', id: 1 } }
    const sdk = { workflowId: 'w', workflowRunId: 'r', attempt: 2, bytes: 3n, nothing: undefined }
    expect(parse({ ...sdk, ...tokens })).toEqual({ ...expected, nested: { id: 1 } })
    expect(parse({ workflow_id: 'w', run_id: 'r', attempt: 2, bytes: 3n })).toEqual(expected)
  })

  it('a JSON log entry has message and stack of an error, and no field replaces time, level and message', () => {
    const error = Object.assign(new Error('broken'), { stack: 'Error: broken\n    at run (tool.ts:1:2)' })
    expect(parse({ error, message: 'forged', level: 'forged' })).toMatchObject({
      level: 'WARN',
      message: 'Slow',
      error: 'broken',
      stack: error.stack,
    })
  })

  it('a JSON log entry is one line', () => {
    expect(formatJsonEntry({ ...entry, message: 'a\nb', meta: { note: '\u2028\n' } })).not.toContain('\n')
  })
})

describe('watchdogLogFor', () => {
  it('the watchdog writes no log when warnings are not logged', () => {
    expect((['DEBUG', 'INFO', 'WARN', 'ERROR'] as const).map(watchdogLogFor)).toEqual([
      undefined,
      undefined,
      undefined,
      false,
    ])
  })
})
