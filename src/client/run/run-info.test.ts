import { expect, it } from 'vitest'
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common'
import { runInfo } from './run-info.js'

type Info = Parameters<typeof runInfo>[0]

function info(status: string, attributes: Readonly<Record<string, string>>, memo: object = {}): Info {
  const pairs = Object.entries(attributes).map(([name, value]) => ({
    key: defineSearchAttributeKey(name, 'KEYWORD'),
    value,
  }))
  return {
    workflowId: 'w',
    runId: 'r',
    type: 'agent',
    taskQueue: 'q',
    status: { name: status },
    startTime: new Date(0),
    memo,
    typedSearchAttributes: new TypedSearchAttributes(pairs),
  } as unknown as Info
}

it('the state of a run that has not ended is from its search attribute, and of a paused run from its memo', () => {
  expect(runInfo(info('RUNNING', { PtcStatus: 'waiting_for_approval' }))).toMatchObject({
    status: 'running',
    state: 'waiting_for_approval',
  })
  expect(runInfo(info('RUNNING', { PtcStatus: 'invented' })).state).toBe('running')
  expect(runInfo(info('RUNNING', {}, { paused: { item: 'turns', since: 1 } })).state).toBe('paused')
  expect(runInfo(info('CANCELLED', { PtcStatus: 'paused' }, { paused: { item: 'turns' } })).state).toBe('cancelled')
  expect(runInfo(info('COMPLETED', { PtcStatus: 'answered' }, { outcome: 'turn_limit' })).state).toBe('failed')
})

it('the requester of a run is from its memo, else the tenant is from its search attribute', () => {
  const requester = { user: 'ada', tenant: 'acme' }
  expect(runInfo(info('RUNNING', { PtcAgent: 'a' }, { requester }))).toMatchObject({ agent: 'a', requester })
  expect(runInfo(info('RUNNING', { PtcTenant: 'acme' })).requester).toEqual({ tenant: 'acme' })
  expect(runInfo(info('RUNNING', {}, { requester: 'x' }))).not.toHaveProperty('requester')
})
