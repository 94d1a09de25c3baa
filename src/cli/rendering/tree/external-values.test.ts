import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { syntheticHistory } from '../../../../test/fixtures/run-tree/recorded.js'
import { PtcError } from '../../../common/errors.js'
import type { JsonValue } from '../../../common/json/json.js'
import { externalValue, previewCharacters, refOf } from '../../../common/json/external-value.js'
import { renderTree } from './render-tree.js'
import { previewText } from '../../../client/run-tree/values/external-values.js'
import { type RunTree, RunTreeBuilder, type ValueReader } from '../../../client/run-tree/index.js'

/** The values of a worker's store. */
class Kept implements ValueReader {
  readonly #texts = new Map<string, string>()
  asked = 0

  hold(value: JsonValue) {
    const text = JSON.stringify(value)
    const sha256 = createHash('sha256').update(text).digest('hex')
    this.#texts.set(sha256, text)
    return externalValue({ sha256, bytes: Buffer.byteLength(text), preview: text.slice(0, previewCharacters) })
  }

  forget(): void {
    this.#texts.clear()
  }

  load(held: JsonValue): Promise<JsonValue> {
    this.asked += 1
    const text = this.#texts.get(refOf(held)?.sha256 ?? '')
    if (text === undefined) return Promise.reject(new PtcError('VALUE_MISSING', 'it is gone'))
    return Promise.resolve(JSON.parse(text) as JsonValue)
  }

  async *readText({ sha256 }: { readonly sha256: string }): AsyncGenerator<string, void, undefined> {
    this.asked += 1
    const text = this.#texts.get(sha256) ?? ''
    for (let start = 0; start < text.length; start += 1_000)
      yield await Promise.resolve(text.slice(start, start + 1_000))
  }
}

const longCode = `x = 1\n${'# a comment "in quotes"\n'.repeat(300)}`
const longOutput = `first\n${'line\n'.repeat(2_000)}last\n`
const longArguments = { query: 'q'.repeat(5_000) }
const longResult = { rows: Array.from({ length: 5_000 }, (_, row) => row) }

function builderOf(kept: Kept): Promise<RunTreeBuilder> {
  const held = kept.hold(longArguments)
  const described = { index: 1, tool: 'get', arguments: held, summary: 'get', digest: '', refused: null }
  const position = { turn: 1, cell: 1, index: 1 }
  const usage = { inputTokens: 9_000, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const reply = { model: 'm', stopReason: 'tool_use', usage, costUsd: null }
  const use = { type: 'tool_use', id: 'use-1', name: 'execute_code', input: { code: kept.hold(longCode) } }
  const told = { parts: [kept.hold(longOutput)], limit: 20_000, suffix: '[timed_out] too slow' }
  const events = syntheticHistory('agent', { question: 'why?' }, [
    {
      name: 'model.turn',
      input: { turn: 1, history: null, pending: [{ type: 'text', text: 'why?' }] },
      result: { reply: { ...reply, content: [{ type: 'thinking' }, use] }, calls: {}, conversationBytes: 40 },
    },
    {
      name: 'session.step',
      input: { step: { number: 1, now: 0, input: { type: 'cell', cell: 1, source: kept.hold(longCode) } } },
      result: { type: 'suspended', calls: [described], wakeInMs: null, output: 'before\n' },
    },
    {
      name: 'get',
      input: { tool: 'get', caller: 'code_execution', position, idempotencyKey: 'k', arguments: held },
      result: kept.hold(longResult),
    },
    {
      name: 'session.step',
      input: { step: { number: 2, now: 0, input: { type: 'results', results: [] } } },
      result: { type: 'suspended', calls: [], wakeInMs: 5, output: kept.hold(longOutput) },
    },
    {
      name: 'model.turn',
      id: 'second',
      input: { turn: 2, history: {}, pending: [{ type: 'tool_result', tool_use_id: 'use-1', externalContent: told }] },
      result: { reply: { ...reply, content: [], stopReason: 'end_turn' }, calls: {}, conversationBytes: 50_000 },
    },
  ])
  const builder = new RunTreeBuilder()
  return builder.add(events).then(() => builder)
}

const cellOf = (tree: RunTree) => tree.turns[0]?.cells[0]
const drawn = (tree: RunTree, full = false) => renderTree(tree, { width: 120, color: false, full, now: tree.startedAt })

describe('external values', () => {
  test('shows external values by preview, size and hash when there is no reader', async () => {
    const kept = new Kept()
    const tree = (await builderOf(kept)).tree()
    const cell = cellOf(tree)
    const ref = refOf(kept.hold(longCode))
    expect(cell?.code).toMatch(
      new RegExp(
        `^\\[value ${ref?.sha256.slice(0, 12)}, 8\\.\\dk bytes; it begins:\\]\nx = 1\n# a comment "in quotes"\n`,
      ),
    )
    expect(cell?.codeRef).toEqual(ref)
    expect(cell?.output).toMatch(/^before\n\[.* it begins:\]\nfirst\nline\n/)
    const call = cell?.calls[0]
    const result = refOf(kept.hold(longResult))
    expect(call).toMatchObject({ arguments: kept.hold(longArguments), resultRef: result, resultBytes: result?.bytes })
    const picture = drawn(tree)
    expect(picture).toContain(`get([value ${refOf(kept.hold(longArguments))?.sha256.slice(0, 12)}, 5.0k bytes]`)
    expect(picture).toMatch(new RegExp(`KB · ${result?.sha256.slice(0, 12)}`))
    expect(picture).toContain('→ {"rows":[0,1,2')
  })

  test('fetches external values with the reader: code and output always, the others with --full', async () => {
    const kept = new Kept()
    const builder = await builderOf(kept)
    await builder.fetchValues(kept, false)
    const cell = cellOf(builder.tree())
    expect(cell).toMatchObject({ code: longCode, output: `before\n${longOutput}` })
    expect(cell?.calls[0]?.arguments).toEqual(kept.hold(longArguments))
    await builder.fetchValues(kept, true)
    const full = cellOf(builder.tree())?.calls[0]
    expect(full?.arguments).toEqual(longArguments)
    expect(full?.resultPreview).toBe(JSON.stringify(longResult).slice(0, 2_000))
    const { asked } = kept
    await builder.fetchValues(kept, true)
    expect(kept.asked).toBe(asked)
    expect(drawn(builder.tree(), true)).toContain('last')
  })

  test('shows values that are missing in the store by preview', async () => {
    const kept = new Kept()
    const builder = await builderOf(kept)
    const before = builder.tree()
    kept.forget()
    await builder.fetchValues(kept, false)
    expect(builder.tree()).toEqual(before)
  })

  test('does not request external values again from an unavailable store', async () => {
    const kept = new Kept()
    const builder = await builderOf(kept)
    const silent: ValueReader = {
      load: (held) => kept.load(held).then(() => Promise.reject(new PtcError('VALUE_STORE_UNAVAILABLE', 'down'))),
      readText: (ref) => kept.readText(ref),
    }
    await builder.fetchValues(silent, false)
    const { asked } = kept
    expect(asked).toBeGreaterThan(0)
    await builder.fetchValues(silent, true)
    expect(kept.asked).toBe(asked)
  })

  test('an unread value does not hide the outcome of a cell', async () => {
    const tree = (await builderOf(new Kept())).tree()
    expect(cellOf(tree)).toMatchObject({ status: 'timed_out', error: 'too slow' })
  })

  test('external values count with their full size', async () => {
    const tree = (await builderOf(new Kept())).tree()
    expect(tree.turns.map(({ model }) => model?.requestBytes)).toEqual([40, 50_000])
    expect(tree.turns[0]?.model).toMatchObject({ status: 'ok' })
    const [model] = tree.turns.map((turn) => turn.model)
    expect(model?.status === 'ok' ? model.replyBytes : 0).toBeGreaterThan(longCode.length)
  })
})

describe('previewText', () => {
  test.each([
    ['"short"', 'short'],
    ['"it breaks off', 'it breaks off'],
    [String.raw`"after a line\n`, 'after a line\n'],
    [String.raw`"in an escape \u00`, 'in an escape '],
    [String.raw`"before a quote \"`, 'before a quote "'],
    [String.raw`"behind a backslash \\`.slice(0, -1), 'behind a backslash '],
  ])('the text of the preview %s', (preview, text) => {
    expect(previewText({ sha256: '', bytes: 9, preview })).toBe(text)
  })
})
