import { describe, expect, it, vi } from 'vitest'
import { defaultLimits } from '../../common/run/limits.js'
import { zeroUsage } from '../../common/run/runs.js'
import { describeProgress, Progress, type RunActivity, showCall, showOpening, showProgress } from './progress.js'

const shown = vi.hoisted(() => ({ details: '' }))
vi.mock('@temporalio/workflow', () => ({ setCurrentDetails: (details: string) => (shown.details = details) }))

function shownRun(kind: 'agent' | 'program' | 'session' | 'embedded' = 'agent') {
  return {
    kind,
    identity: { workflowId: 'run-1' },
    config: { limits: defaultLimits, loweredLimits: { sessionExecutions: 50 }, sessions: { idleMs: 1_000 } },
    counts: { turns: 2, cells: 3, toolCalls: 4, usage: { ...zeroUsage, inputTokens: 1_200 }, costUsd: 0.0123 },
    progress: new Progress(),
  }
}

const waiting: RunActivity = { type: 'waiting', cell: 3, wakeAt: null, deadline: Date.UTC(2026, 0, 2), isParked: true }

describe('current details', () => {
  it('current details of an agent have the open calls with their start, the time limit, turns, tokens and cost', () => {
    vi.setSystemTime(Date.UTC(2026, 0, 1, 10, 20, 30))
    const run = shownRun()
    showProgress(run, { type: 'cell', cell: 3 })
    showCall(run, 'a', 'charge rent 4')
    showProgress(run, waiting)
    expect(shown.details).toBe(
      [
        '**Waits for 1 tool call (cell 3)** since 2026-01-01 10:20:30 UTC',
        'The sandbox is released while the code waits. The cell ends at 2026-01-02 00:00:00 UTC at the latest.',
        '- `charge rent 4` since 2026-01-01 10:20:30 UTC',
        `turn 2 of at most ${defaultLimits.turns} · cells 3 · tool calls 4 of at most ${defaultLimits.callsPerRun} · ` +
          'tokens 1.2k in, 0 out · cost $0.0123',
      ].join('\n\n'),
    )
    vi.useRealTimers()
  })

  it('current details name the sandbox for which a run waits, until it is open', () => {
    vi.setSystemTime(Date.UTC(2026, 0, 1, 10, 20, 30))
    const run = shownRun()
    showProgress(run, { type: 'cell', cell: 3 })
    const hide = showOpening(run, 'docker')
    expect(shown.details).toContain('Waits for a worker with the sandbox `docker` since 2026-01-01 10:20:30 UTC.')
    hide()
    expect(shown.details).not.toContain('Waits for a worker')
    showOpening(run, 'auto')
    expect(shown.details).toContain('Waits for a worker with a sandbox since')
    vi.useRealTimers()
  })

  it('current details name the call that is being compensated', () => {
    const run = shownRun('program')
    showProgress(run, { type: 'compensating', done: 1, total: 3 })
    showCall(run, 'a', 'compensate book hotel')
    expect(shown.details).toMatch(/^\*\*Compensates call 2 of 3\*\* since .*\n\n- `compensate book hotel` since /)
  })

  it('current details of a plan list its steps, without their tasks where texts are redacted', () => {
    const run = shownRun()
    run.progress.plan = [
      { id: 'a', task: 'Count `orders`.', dependsOn: [], status: 'gave_up', result: 'x' },
      { id: 'b', task: 'y'.repeat(200), dependsOn: ['a'], status: 'skipped', result: null },
    ]
    const plan = { ...run, config: { ...run.config, mode: 'plan' } } as const
    showProgress(plan, { type: 'model', turn: 2 })
    expect(shown.details).toContain(
      `1. \`a\` gave up: \`Count 'orders'.\`\n2. \`b\` skipped: \`${'y'.repeat(100)}…\`\n\n`,
    )
    expect(shown.details).toContain(`turns 2, at most ${defaultLimits.turns} a step`)
    showProgress({ ...plan, config: { ...plan.config, isRedacted: true } }, { type: 'model', turn: 3 })
    expect(shown.details).toContain('1. `a` gave up\n2. `b` skipped\n')
  })

  it('current details show the usage of the context window, or that the window is unknown', () => {
    const run = shownRun()
    run.progress.context = { tokens: 82_000, window: 200_000 }
    showProgress(run, { type: 'compaction' })
    expect(shown.details).toContain('**Compacts the messages**')
    expect(shown.details).toMatch(/ · context 41 % of 200\.0k tokens$/)
    run.progress.context = { tokens: 82_000, window: undefined }
    showProgress(run, { type: 'model', turn: 3 })
    expect(shown.details).toMatch(/ · context 82\.0k tokens of an unknown window$/)
  })

  it('current details keep the time at which a wait began, and follow the calls', () => {
    const run = shownRun()
    vi.setSystemTime(Date.UTC(2026, 0, 1))
    showProgress(run, { ...waiting, isParked: false })
    const close = showCall(run, 'a', 'charge rent')
    vi.setSystemTime(Date.UTC(2026, 0, 1, 5))
    showProgress(run, waiting)
    expect(shown.details).toMatch(/1 tool call .*since 2026-01-01 00:00:00 UTC\n/)
    close()
    expect(shown.details).not.toContain('charge')
    vi.useRealTimers()
  })

  it('current details show until when a deferred call waits for its result', () => {
    const run = shownRun()
    showProgress(run, waiting)
    const wait = { for: 'result', since: Date.UTC(2026, 0, 1), expiresAt: Date.UTC(2026, 0, 4) } as const
    const close = showCall(run, 'a', 'approve 7', wait)
    expect(shown.details).toContain(
      '- `approve 7` waits for its result since 2026-01-01 00:00:00 UTC, until 2026-01-04 00:00:00 UTC at the latest',
    )
    expect(shown.details).not.toContain('The cell ends at')
    close()
    expect(shown.details).toContain('The cell ends at 2026-01-02')
  })

  it('current details of a program and a session have no turns', () => {
    for (const kind of ['program', 'session'] as const) {
      const run = shownRun(kind)
      showProgress(run, { type: 'cell', cell: 3 })
      expect(shown.details).not.toMatch(/turn|cost/)
    }
    expect(shown.details).toContain('cells 3 of at most 50')
  })

  it('current details list ten calls of many', () => {
    const run = shownRun()
    showProgress(run, { type: 'direct_calls' })
    for (let index = 0; index < 30; index += 1) showCall(run, String(index), `charge ${index}`)
    const details = describeProgress(run)
    expect(details.match(/- `charge/g)).toHaveLength(10)
    expect(details).toContain('30 tool calls of the model')
    expect(details).toContain('- and 20 more calls')
  })

  it.each([
    '<img src=x onerror=alert(1)>',
    '](javascript:alert(1)) [click](https://evil.example)',
    'https://evil.example `code` **bold**',
    'a\n\n# heading\n- list\u202Egnp.exe\u0007\u200B',
    '``` ~~~ | table |',
  ])('current details escape the Markdown of the summary %j', (summary) => {
    const run = shownRun('program')
    showProgress(run, waiting)
    showCall(run, 'a', summary)
    const line = shown.details.split('\n').find((each) => each.startsWith('- ')) ?? ''
    // The text is one code span, which Markdown does not interpret.
    expect(line).toMatch(/^- `[^`]*` since \d{4}-/)
    expect(line).not.toMatch(/[\p{Cf}\p{Cc}]/u)
  })

  it("current details of a user's workflow are not changed", () => {
    shown.details = 'mine'
    showProgress(shownRun('embedded'), waiting)
    expect(shown.details).toBe('mine')
  })
})
