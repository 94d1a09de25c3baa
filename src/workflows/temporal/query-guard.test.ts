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
/** Runs two activations with another time and size of the history. Afterwards a query is answered. */
const twoLive = () => {
  live(1, 100)
  live(2, 200)
}
const conclude = (...commands: object[]) => guard.concludeActivation?.({ commands }, (input) => input)

function task(time: number, size: number, isReplaying: boolean): object {
  return { timestamp: { seconds: time, nanos: 5 }, historySizeBytes: size, isReplaying, jobs: [{ fireTimer: {} }] }
}

describe('a query is answered', () => {
  it('a query is answered after a replay', () => {
    replayed(1, 100)
    replayed(2, 200)
    query()
    expect(passed).toBe(3)
  })

  it('a query is answered after two live activations with different times and sizes, repeatedly', () => {
    twoLive()
    query()
    query()
    live(3, 300)
    query()
    expect(passed).toBe(6)
  })

  it('a query with a workflow task is always answered', () => {
    live(1, 100)
    query('1')
    expect(passed).toBe(2)
  })
})

describe('a query is refused', () => {
  it('a query is refused after the first live activation', () => {
    replayed(1, 100)
    live(2, 200)
    expect(query).toThrow(queryRefusedMessage)
  })

  it('a query is refused after events without the start of a workflow task', () => {
    twoLive()
    live(2, 200)
    expect(query).toThrow(queryRefusedMessage)
  })

  it('a query is refused when only the time or only the size has changed', () => {
    live(1, 100)
    live(2, 100)
    expect(query).toThrow(queryRefusedMessage)
    live(2, 200)
    expect(query).toThrow(queryRefusedMessage)
  })

  it('a query is refused when the server does not report the size of histories', () => {
    live(1, 0)
    live(2, 0)
    expect(query).toThrow(queryRefusedMessage)
  })

  it('a query is refused once the run has cancelled an activity, except after a replay', () => {
    live(1, 100)
    conclude({ requestCancelActivity: { seq: 1 } })
    live(2, 200)
    expect(query).toThrow(queryRefusedMessage)
    replayed(3, 300)
    query()
  })
})

it('the query guard passes activations and their commands on unchanged', () => {
  live(1, 100)
  expect(passed).toBe(1)
  const commands = [{ startTimer: { seq: 1 } }]
  expect(conclude(...commands)).toEqual({ commands })
})
