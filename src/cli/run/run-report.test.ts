import { describe, expect, it } from 'vitest'
import { PtcError } from '../../common/errors.js'
import { zeroUsage } from '../../common/run/runs.js'
import type { AgentTree, ProgramTree } from '../../client/run-tree/index.js'
import { failureReport, runReport } from './run-report.js'

const counts = { turns: 2, cells: 1, toolCalls: 3, usage: { ...zeroUsage, inputTokens: 10 }, costUsd: null }
const common = {
  workflowId: 'w',
  runId: 'r',
  runIds: ['r'],
  lacksBeginning: false,
  startedAt: 1_000,
  endedAt: 3_500,
  backend: undefined,
  sandbox: undefined,
  model: undefined,
  failure: undefined,
  unserved: [],
  waitsFor: [],
  turns: [],
  compactions: [],
  totals: counts,
  phase: { type: 'ended' },
} as const
const agent: AgentTree = {
  ...common,
  type: 'agent',
  workflowType: 'agent',
  status: 'completed',
  question: 'why?',
  result: { status: 'answered', answer: 'because', ...counts },
}
const program: ProgramTree = {
  ...common,
  type: 'program',
  workflowType: 'program',
  status: 'completed',
  source: '',
  result: undefined,
}

describe('runReport', () => {
  it('the report of an answered run has its answer, counts and cost', () => {
    expect(runReport(agent, undefined)).toStrictEqual({
      workflowId: 'w',
      runId: 'r',
      status: 'answered',
      answer: 'because',
      ...counts,
      durationMs: 2_500,
    })
  })

  it('the report of a failed run has its error and counts', () => {
    const report = runReport({ ...agent, status: 'failed', result: undefined }, new PtcError('MODEL_AUTH', 'no key'))
    expect(report).toMatchObject({
      status: 'failed',
      answer: '',
      turns: 2,
      error: { code: 'MODEL_AUTH', message: 'no key' },
    })
  })

  it('the report of a program has its output, and its error if it raised one', () => {
    const outcome = { status: 'code_error', output: 'x', error: 'ZeroDivisionError' } as const
    const report = runReport({ ...program, result: { outcome, ...counts } }, undefined)
    expect(report).toMatchObject({
      status: 'code_error',
      answer: 'x',
      error: { code: 'code_error', message: 'ZeroDivisionError' },
    })
  })
})

describe('failureReport', () => {
  it('a failure report has the same shape as a report', () => {
    const report = failureReport(new PtcError('CONFIG_INVALID', 'broken'))
    expect(Object.keys(report)).toEqual([...Object.keys(runReport(agent, undefined)), 'error'])
    expect(report).toMatchObject({ workflowId: null, status: 'failed', error: { code: 'CONFIG_INVALID' } })
  })
})
