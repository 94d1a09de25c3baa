import { appendFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../test/support/folders.js'
import { AttemptRecord, readRecords } from './attempt-record.js'

const attemptOf = (activityId: string) => ({ workflowId: 'w', runId: 'r', activityId, attempt: 1 })

async function openRecord() {
  const path = join(await temporaryFolder(), 'attempts')
  const record = new AttemptRecord(path)
  onTestFinished(() => record.close())
  return { path, record }
}

describe('AttemptRecord', () => {
  it('the record has the attempts that have begun and not ended', async () => {
    const { path, record } = await openRecord()
    record.begin(attemptOf('a'))
    const end = record.begin(attemptOf('b'))
    record.begin(attemptOf('c'))
    end()
    expect(readRecords(path).attempts.map(({ activityId }) => activityId)).toEqual(['a', 'c'])
  })

  it('reading a record ignores an incomplete line', async () => {
    const { path, record } = await openRecord()
    record.begin(attemptOf('a'))
    appendFileSync(path, '{"begin":2,"workflowId":"w"')
    expect(readRecords(path).attempts).toMatchObject([attemptOf('a')])
  })

  it('the record stays small, and keeps attempts in progress', async () => {
    const { path, record } = await openRecord()
    record.begin(attemptOf('long'))
    for (let count = 0; count < 20_000; count += 1) record.begin(attemptOf(String(count)))()
    expect(statSync(path).size).toBeLessThan(2_000_000)
    expect(readRecords(path).attempts).toMatchObject([attemptOf('long')])
  })

  it('the record has each execution with recent activities once, the latest last', async () => {
    const { path, record } = await openRecord()
    for (const runId of ['one', 'two', 'one', 'three']) record.begin({ ...attemptOf('a'), runId })()
    const runIds = () => readRecords(path).executions.map(({ runId }) => runId)
    expect(runIds()).toEqual(['two', 'one', 'three'])
    for (let count = 0; count < 2_000; count += 1) record.begin({ ...attemptOf('a'), runId: String(count) })()
    expect(runIds()).toHaveLength(500)
    expect(runIds().at(-1)).toBe('1999')
  })

  it('a closed record records nothing', async () => {
    const { path, record } = await openRecord()
    const end = record.begin(attemptOf('a'))
    record.close()
    record.close()
    end()
    expect(readRecords(path).attempts).toHaveLength(1)
  })
})
