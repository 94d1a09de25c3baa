import { describe, expect, it } from 'vitest'
import { formatLogEntry } from './worker-log.js'

const entry = { level: 'WARN', message: 'Slow', timestampNanos: 1_700_000_000_123_456_789n } as const

describe('formatLogEntry', () => {
  it('is one line with the time, the level, the message and what it is about', () => {
    const meta = { taskQueue: 'durable-ptc.tools', note: 'two words', attempt: 2, nothing: undefined, token: 3n }
    expect(formatLogEntry({ ...entry, meta })).toBe(
      '2023-11-14T22:13:20.123Z WARN  Slow taskQueue=durable-ptc.tools note="two words" attempt=2 token="3"',
    )
  })

  it('keeps the stack of an error on the line', () => {
    const line = formatLogEntry({ ...entry, meta: { error: new Error('broken') } })
    expect(line).toContain('Error: broken')
    expect(line).not.toContain('\n')
  })
})
