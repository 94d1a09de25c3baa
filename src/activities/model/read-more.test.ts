import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { externalValue } from '../../common/json/external-value.js'
import type { PendingBlock } from '../../common/agent/messages.js'
import type { EngineToolResult } from '../../common/agent/model-turn.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { appendTurn, loadPending } from './conversation.js'
import { readMore } from './read-more.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))
const { signal } = new AbortController()

/** Returns the message for the model with this result, and a function that reads pages of 1,000 characters. */
async function withResult(value: JsonValue, isOffered = true) {
  const part = externalValue(await values.store(value, signal))
  const block: PendingBlock = {
    type: 'tool_result',
    tool_use_id: 'a',
    externalContent: { parts: [part], limit: 1_000, suffix: '[failed]' },
  }
  const now = await loadPending(values, [block], isOffered, signal)
  const history = await appendTurn(values, null, now, signal)
  const read = async (input: JsonObject) => {
    const activity = readMore(values)
    const run = () => activity({ history, input, limit: 1_000 })
    const result: EngineToolResult = await new MockActivityEnvironment().run(run)
    return { ...result, page: (await values.load(result.text, 'test', signal)) as string }
  }
  const [content] = now[0]?.content ?? []
  return { text: content?.type === 'tool_result' ? content.content : '', read, message: now[0] }
}

it('read_more returns pages of a truncated result with a note, and all pages together are the whole text', async () => {
  const whole = Array.from({ length: 700 }, (_, line) => `line ${line}`).join('\n')
  const { text, read } = await withResult(whole)
  expect(text).toMatch(
    /characters cut[\s\S]*\[failed\]\n\(Not the whole result: read_more\({"id": "a", "offset": 0}\) /,
  )
  let [joined, offset] = ['', 0]
  for (;;) {
    const { page, note, isError } = await read({ id: 'a', offset })
    expect(isError).toBe(false)
    joined += page
    offset = joined.length
    if (note.endsWith(', the end)')) break
    expect(note).toContain(`read_more({"id": "a", "offset": ${offset}}) has more`)
  }
  expect(joined).toBe(whole)
  expect(await read({ id: 'a', offset })).toMatchObject({
    isError: true,
    note: expect.stringContaining('no more') as string,
  })
})

it('pages of read_more are cut between characters, from any offset', async () => {
  for (const whole of ['😀'.repeat(2_300), `a${'😀'.repeat(2_300)}`]) {
    const { text, read } = await withResult(whole)
    expect((text as string).isWellFormed()).toBe(true)
    let joined = ''
    for (let hasMore = true; hasMore;) {
      const { page, note } = await read({ id: 'a', offset: joined.length })
      expect(page.isWellFormed()).toBe(true)
      expect(page.length).toBeLessThanOrEqual(1_000)
      joined += page
      hasMore = note.includes('has more')
    }
    expect(joined).toBe(whole)
    for (const offset of [999, 1_000, whole.length - 1]) {
      const { page, note } = await read({ id: 'a', offset })
      const [, start, end] = /characters (\d+) to (\d+)/.exec(note) ?? []
      expect(page).toBe(whole.slice(Number(start), Number(end)))
      expect(page.isWellFormed()).toBe(true)
      expect(offset - Number(start)).toBeLessThanOrEqual(1)
    }
  }
})

it('read_more reads values that are too large for memory, as JSON', async () => {
  const { read } = await withResult({ rows: Array.from({ length: 500_000 }, (_, id) => ({ id })) })
  expect(await read({ id: 'a' })).toMatchObject({ page: expect.stringMatching(/^{"rows":\[{"id":0},/) as string })
  expect(await read({ id: 'a', offset: 5_000_000 })).toMatchObject({ isError: false })
})

it('read_more reports the problem of an invalid input', async () => {
  const { read } = await withResult('x'.repeat(2_000))
  for (const input of [{}, { id: 7 }, { id: 'a', offset: -1 }, { id: 'a', offset: 'x' }])
    expect(await read(input)).toMatchObject({
      isError: true,
      note: expect.stringContaining('read_more takes') as string,
    })
  for (const id of ['b', 'constructor', '__proto__'])
    expect(await read({ id })).toMatchObject({
      isError: true,
      note: expect.stringContaining('no longer exists') as string,
    })
})

it('a whole result has no note about read_more, and neither has a result for a model without this tool', async () => {
  const short = await withResult('short')
  expect(short).toMatchObject({ text: 'short\n[failed]' })
  expect(short.message).not.toHaveProperty('whole')
  const without = await withResult('x'.repeat(2_000), false)
  expect(without.text).not.toContain('read_more')
  expect(without.message).not.toHaveProperty('whole')
})
