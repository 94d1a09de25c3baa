import { describe, expect, it } from 'vitest'
import type { RunInfo } from '../run-info.js'
import { runTable } from './run-table.js'

const now = new Date('2026-11-21T10:00:00Z')
const run: RunInfo = {
  workflowId: 'agent-bcdfghjkmn',
  runId: 'r',
  type: 'agent',
  state: 'timed_out',
  taskQueue: 'q',
  summary: 'Who spent\u001B[2J too much?',
  startTime: new Date('2026-11-21T09:00:00Z'),
  closeTime: new Date('2026-11-21T09:00:12Z'),
}

describe('runTable', () => {
  it('aligns columns under their names, and sends nothing to the terminal that drives it', () => {
    expect(
      runTable([run, { ...run, workflowId: 'x', state: 'running', closeTime: undefined }], { now, width: undefined }),
    ).toBe(
      [
        'ID                STATE      STARTED  LASTED  ABOUT',
        'agent-bcdfghjkmn  timed out  1h ago   12.0s   Who spent␛[2J too much?',
        'x                 running    1h ago   1h      Who spent␛[2J too much?',
      ].join('\n'),
    )
  })

  it('fits into a terminal', () => {
    for (const line of runTable([run], { now, width: 30 }).split('\n')) expect(line.length).toBeLessThanOrEqual(30)
  })
})
