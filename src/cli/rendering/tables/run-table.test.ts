import { describe, expect, it } from 'vitest'
import type { RunInfo } from '../../../client/run/run-info.js'
import { renderRunTable } from './run-table.js'

const now = new Date('2026-11-21T10:00:00Z')
const run: RunInfo = {
  workflowId: 'agent-bcdfghjkmn',
  runId: 'r',
  type: 'agent',
  status: 'timed_out',
  state: 'timed_out',
  outcome: undefined,
  taskQueue: 'q',
  summary: 'Who spent\u001B[2J too much?',
  startedAt: new Date('2026-11-21T09:00:00Z'),
  endedAt: new Date('2026-11-21T09:00:12Z'),
}

describe('renderRunTable', () => {
  it('the table of runs aligns columns under their headings, and prints no control character', () => {
    expect(
      renderRunTable(
        [
          run,
          {
            ...run,
            workflowId: 'x',
            status: 'running',
            state: 'waiting_for_approval',
            endedAt: undefined,
            costUsd: 0.0123,
            requester: { user: 'ada', tenant: 'acme' },
          },
        ],
        {
          now,
          width: undefined,
          color: false,
        },
      ),
    ).toBe(
      [
        'ID                STATUS                STARTED  LASTED  COST     ABOUT',
        'agent-bcdfghjkmn  timed out             1h ago   12.0s            Who spent␛[2J too much?',
        'x                 waiting for approval  1h ago   1h      $0.0123  ada of acme: Who spent␛[2J too much?',
      ].join('\n'),
    )
  })

  it('the table of runs fits into the width of the terminal', () => {
    for (const line of renderRunTable([run], { now, width: 30, color: false }).split('\n'))
      expect(line.length).toBeLessThanOrEqual(30)
  })

  it('the table of runs shows in red the outcome of a run that completed without success', () => {
    const failed: RunInfo = {
      ...run,
      status: 'failed',
      state: 'failed',
      outcome: 'code_error',
      summary: 'x'.repeat(200),
    }
    const [, line = ''] = renderRunTable([failed], { now, width: 80, color: true }).split('\n')
    expect(line).toContain('  \u001B[31mcode error\u001B[39m  1h ago')
    expect(line).toMatch(/x…$/)
  })
})
