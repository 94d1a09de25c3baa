import type { WorkflowInternalsInterceptor } from '@temporalio/workflow'
import { beforeEach, describe, expect, it } from 'vitest'
import { queryRefusedMessage } from '../../common/names.js'
import { QueryGuard } from './query-guard.js'

let guard: WorkflowInternalsInterceptor
let passed: number

beforeEach(() => {
  guard = new QueryGuard()
  passed = 0
})

function activate(activation: object): void {
  guard.activate?.({ activation, batchIndex: 0 }, () => (passed += 1))
}

const replayed = (time: number, size: number) => activate(task(time, size, true))
const live = (time: number, size: number) => activate(task(time, size, false))
const query = (queryId = 'legacy_query') => activate({ jobs: [{ queryWorkflow: { queryId } }] })
/** Afterwards a query is answered: time and size of the history have changed. */
const twoLive = () => {
  live(1, 100)
  live(2, 200)
}
const conclude = (...commands: object[]) => guard.concludeActivation?.({ commands }, (input) => input)

function task(time: number, size: number, isReplaying: boolean): object {
  return { timestamp: { seconds: time, nanos: 5 }, historySizeBytes: size, isReplaying, jobs: [{ fireTimer: {} }] }
}

describe('a query is answered', () => {
  it('after a replay', () => {
    replayed(1, 100)
    replayed(2, 200)
    query()
    expect(passed).toBe(3)
  })

  it('after two live activations with different times and sizes, again and again', () => {
    twoLive()
    query()
    query()
    live(3, 300)
    query()
    expect(passed).toBe(6)
  })

  it('when it comes with a workflow task, always', () => {
    live(1, 100)
    query('1')
    expect(passed).toBe(2)
  })
})

describe('a query is refused', () => {
  it('after the first live activation', () => {
    replayed(1, 100)
    live(2, 200)
    expect(query).toThrow(queryRefusedMessage)
  })

  it('after events that came without the start of a workflow task', () => {
    twoLive()
    live(2, 200)
    expect(query).toThrow(queryRefusedMessage)
  })

  it('when only the time or only the size has changed', () => {
    live(1, 100)
    live(2, 100)
    expect(query).toThrow(queryRefusedMessage)
    live(2, 200)
    expect(query).toThrow(queryRefusedMessage)
  })

  it('when the server does not report the size of histories', () => {
    live(1, 0)
    live(2, 0)
    expect(query).toThrow(queryRefusedMessage)
  })

  it('once the run has cancelled an activity, except after a replay', () => {
    live(1, 100)
    conclude({ requestCancelActivity: { seq: 1 } })
    live(2, 200)
    expect(query).toThrow(queryRefusedMessage)
    replayed(3, 300)
    query()
  })
})

it('activations and their commands are passed on unchanged', () => {
  live(1, 100)
  expect(passed).toBe(1)
  const commands = [{ startTimer: { seq: 1 } }]
  expect(conclude(...commands)).toEqual({ commands })
})
