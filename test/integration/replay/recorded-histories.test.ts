import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js'
import { describe, expect, it } from 'vitest'
import { expectHistoryReplays } from '../../support/environment/histories.js'

const folder = fileURLToPath(new URL('../../histories/', import.meta.url))

const recorded = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))

// This version must continue runs of older releases. Fix a failure with `patched`, never by recording again.
describe('recorded histories', () => {
  it('F32: there is a recorded history of every release', () => {
    expect(recorded.length).toBeGreaterThan(0)
  })

  it.each(recorded)('F32: the recorded history %s replays', async (file) => {
    const history = historyFromJSON(JSON.parse(readFileSync(`${folder}${file}`, 'utf8')))
    const [started] = history.events ?? []
    const { workflowId } = started?.workflowExecutionStartedEventAttributes ?? {}
    await expectHistoryReplays(history, workflowId ?? 'recorded')
  })
})
