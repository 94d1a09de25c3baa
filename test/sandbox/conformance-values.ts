import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PtcError } from '../../src/common/errors.js'
import type { JsonValue } from '../../src/common/json.js'
import type { DeliveredResult, StepAnswer, StepInput } from '../../src/common/steps.js'
import type { SandboxBackend } from '../../src/sandbox/backend.js'
import { Notebook } from '../../src/sandbox/conformance/notebook.js'
import { untilNoticed } from '../support/memory-kills.js'

const hashes = 'import asyncio, hashlib\ndef digest(text): return hashlib.sha256(text.encode()).hexdigest()\n'

/** Values that are too large for a step come in pieces before it, in every backend. */
export function valuesConformance(backendOf: () => SandboxBackend): void {
  let notebook: Notebook

  beforeAll(async () => {
    notebook = await new Notebook(backendOf()).open()
  })

  afterAll(() => notebook?.close())

  it('arrive intact: 20 MB of texts with quotes, line breaks, umlauts and emoji', async () => {
    const texts = Array.from({ length: 2_000 }, (_, index) => textOf(10_000, String(index)))
    const held = notebook.keep(texts)
    const { output } = await notebook.run(`${hashes}print(digest("".join(map(digest, await get(1)))))`, () => ok(held))
    expect(output).toBe(`${sha256(texts.map(sha256).join(''))}\n`)
  })

  it('arrive intact: 50 MB, and this process keeps none of it', { timeout: 300_000 }, async () => {
    const large = await new Notebook(backendOf()).open()
    const chunk = 'All work and no play. '.repeat(3_000)
    const count = Math.ceil((50 << 20) / chunk.length)
    const held = large.keepMade(() => quoted(chunk, count))
    await large.run('import hashlib')
    const before = process.memoryUsage().rss
    let peak = before
    const { readValue } = large
    large.readValue = async function* (ref, signal) {
      for await (const piece of readValue(ref, signal)) {
        peak = Math.max(peak, process.memoryUsage().rss)
        yield piece
      }
    }
    const { output } = await large.run('t = await get(1)\nprint(hashlib.sha256(t.encode()).hexdigest())', () =>
      ok(held),
    )
    const expected = createHash('sha256')
    for (let part = 0; part < count; part += 1) expected.update(chunk)
    expect(output).toBe(`${expected.digest('hex')}\n`)
    expect(peak).toBeGreaterThan(before)
    expect(peak - before).toBeLessThan(100 << 20)
    await large.close()
  })

  it('come several to a step, beside small ones, and the same one twice as two', async () => {
    const texts = [1, 2, 3].map((seed) => textOf(1_000_000, String(seed)))
    const list = notebook.keep([{ n: 1 }])
    const values: readonly JsonValue[] = [...texts.map((text) => notebook.keep(text)), 'small', list, list]
    const source = [
      `${hashes}*texts, small, one, other = await asyncio.gather(*(get(i) for i in range(6)))`,
      'one.append(2)',
      'print(*(digest(text) for text in texts), small, one, other)',
    ].join('\n')
    const { output, answers } = await notebook.run(source, ({ arguments: { a } }) => ok(values[Number(a)] ?? null))
    expect(answers).toHaveLength(2)
    expect(output).toBe(`${texts.map(sha256).join(' ')} small [{'n': 1}, 2] [{'n': 1}]\n`)
  })

  it.each<[string, JsonValue]>([
    ['an empty object', {}],
    ['an object that looks like a reference', { 'ptc.value': { sha256: 'x', bytes: 1, preview: '' } }],
    ['numbers at their limits', [0, -1, 1.5, 1e300, 5e-324, 2 ** 53 - 1]],
    ['a text of characters of every width', 'a\u0000"\\\u00e9\u4e2d\u{1F600}\u2028'],
    ['null', null],
  ])('may be any JSON: %s', async (_what, value) => {
    const { output } = await notebook.run('import json\nprint(json.dumps(await get(1)))', () =>
      ok(notebook.keep(value)),
    )
    expect(JSON.parse(output)).toEqual(value)
  })

  it('may be the source of a cell', async () => {
    notebook.cell += 1
    const source = notebook.keep(`# ${'x'.repeat(300_000)}\nprint(6 * 7)`)
    const answer = await notebook.advance({ type: 'cell', cell: notebook.cell, source })
    expect(answer).toMatchObject({ type: 'completed', output: '42\n' })
  })

  it('are not read again for a step that is repeated', async () => {
    const { input, end } = await delivered(notebook, 'print(len(await get(1)))', notebook.keep('x'.repeat(500_000)))
    expect(end).toMatchObject({ type: 'completed', output: '500000\n' })
    const { readValue } = notebook
    notebook.readValue = () => {
      throw new Error('read again')
    }
    expect(await notebook.send(notebook.step, input, 2)).toEqual(end)
    notebook.readValue = readValue
  })

  it('that turn out to be corrupt at their end fail the step, which can be asked again', async () => {
    const text = textOf(3_000_000)
    const held = notebook.keep(text)
    const { readValue } = notebook
    notebook.readValue = async function* (ref, signal) {
      yield* readValue(ref, signal)
      throw new PtcError('VALUE_CORRUPT', 'other bytes')
    }
    const begun = await notebook.advance(cellOf(notebook, `${hashes}print(digest(await get(1)))`))
    const input = resultsOf(begun, held)
    await expect(notebook.advance(input)).rejects.toMatchObject({ code: 'VALUE_CORRUPT' })
    notebook.readValue = readValue
    const again = await notebook.send(notebook.step, input)
    expect(again).toMatchObject({ type: 'completed', output: `${sha256(text)}\n` })
  })

  it('that are missing fail the step, which can be another one instead', async () => {
    const held = notebook.keep('not read')
    const { readValue } = notebook
    notebook.readValue = () => {
      throw new PtcError('VALUE_MISSING', 'gone')
    }
    const source = 'try:\n    await get(1)\nexcept ToolError as error:\n    print(error)'
    const begun = await notebook.advance(cellOf(notebook, source))
    await expect(notebook.advance(resultsOf(begun, held))).rejects.toMatchObject({ code: 'VALUE_MISSING' })
    notebook.readValue = readValue
    const results = indicesOf(begun).map((index) => ({
      index,
      outcome: { status: 'tool_error', message: 'lost it' } as const,
    }))
    expect(await notebook.send(notebook.step, { type: 'results', results })).toMatchObject({ output: 'lost it\n' })
  })

  it('do not count as time of the code', async () => {
    const quick = await new Notebook(backendOf(), { cellSeconds: 1 }).open()
    const { readValue } = quick
    // Past the limit and the grace of whoever watches it.
    quick.readValue = async function* (ref, signal) {
      yield ''
      await new Promise((resolve) => setTimeout(resolve, 5_000))
      yield* readValue(ref, signal)
    }
    const held = quick.keep('slow')
    expect((await quick.run('print(await get(1))', () => ok(held))).output).toBe('slow\n')
    await quick.close()
  })

  it('that can not fit in the memory of the sandbox end the cell, not the session', async () => {
    const small = await new Notebook(backendOf(), { memoryBytes: 128 << 20 }).open()
    await small.run('kept = 1')
    const held = small.keepMade(() => quoted('x'.repeat(1 << 20), 80))
    const { final } = await small.run('await get(1)', () => ok(held))
    expect(final).toMatchObject({ type: 'failed', kind: 'limit_exceeded', error: expect.stringContaining('memory') })
    expect((await small.run('print(kept)')).output).toBe('1\n')
    await small.close()
  })

  it('that outgrow the memory of the sandbox while Python makes them end with it', async () => {
    const outgrow = async () => {
      const small = await new Notebook(backendOf(), { memoryBytes: 128 << 20 }).open()
      const held = small.keepMade(function* () {
        yield '[[]'
        // 24 MiB of text, several hundred of lists.
        for (let count = 0; count < 24; count += 1) yield ',[]'.repeat(349_525)
        yield ']'
      })
      const { final } = await small.run('await get(1)', () => ok(held))
      await small.close()
      return final
    }
    const final = await untilNoticed(outgrow, (end) => end.type === 'lost' && end.reason.includes('exit code 137'))
    expect([
      { type: 'lost', cause: 'out_of_memory' },
      { type: 'failed', kind: 'limit_exceeded' },
    ]).toContainEqual(
      final.type === 'lost' ? { type: 'lost', cause: final.cause } : { type: 'failed', kind: kindOf(final) },
    )
  })
}

const ok = (value: JsonValue) => ({ status: 'ok', value }) as const

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** So many bytes at least of what JSON escapes and what it does not, of every width. */
function textOf(bytes: number, seed = ''): string {
  const line = `${seed}"quoted"\\\n\tZeile f\u00fcr Zeile \u4e2d\u6587 \u{1F600} \u0001 ${'plain text '.repeat(20)}`
  return line.repeat(Math.ceil(bytes / Buffer.byteLength(line)))
}

function cellOf(notebook: Notebook, source: string): StepInput {
  notebook.cell += 1
  return { type: 'cell', cell: notebook.cell, source }
}

function indicesOf(answer: StepAnswer): readonly number[] {
  if (answer.type !== 'suspended') throw new Error(JSON.stringify(answer))
  return answer.calls.map(({ index }) => index)
}

function resultsOf(answer: StepAnswer, value: JsonValue): StepInput {
  const results: DeliveredResult[] = indicesOf(answer).map((index) => ({ index, outcome: ok(value) }))
  return { type: 'results', results }
}

/** Runs a cell that makes calls once, and answers each of them with this value. */
async function delivered(notebook: Notebook, source: string, value: JsonValue) {
  const input = resultsOf(await notebook.advance(cellOf(notebook, source)), value)
  return { input, end: await notebook.advance(input) }
}

/** A JSON text of one long string. */
function* quoted(chunk: string, count: number): Generator<string> {
  yield '"'
  for (let part = 0; part < count; part += 1) yield chunk
  yield '"'
}

const kindOf = (answer: StepAnswer): string | undefined => (answer.type === 'failed' ? answer.kind : undefined)
