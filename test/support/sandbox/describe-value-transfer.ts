import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PtcError } from '../../../src/common/errors.js'
import type { JsonValue } from '../../../src/common/json/json.js'
import type { DeliveredResult, StepResult, StepInput } from '../../../src/common/session/steps.js'
import type { SandboxBackend } from '../../../src/sandbox/backend.js'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'
import { retryMissedOomKill } from '../docker/oom-kill.js'

const digestPrelude = 'import asyncio, hashlib\ndef digest(text): return hashlib.sha256(text.encode()).hexdigest()\n'

/** Tests of every backend: values that are too large for a step are sent in pieces before the step. */
export function describeValueTransfer(getBackend: () => SandboxBackend): void {
  let harness: SessionHarness

  beforeAll(async () => {
    harness = await new SessionHarness(getBackend()).open()
  })

  afterAll(() => harness?.close())

  it('a value transfer delivers 20 MB of texts with quotes, line breaks, umlauts and emoji', async () => {
    const texts = Array.from({ length: 2_000 }, (_, index) => mixedText(10_000, String(index)))
    const value = harness.storeValue(texts)
    const { output } = await harness.runCell(`${digestPrelude}print(digest("".join(map(digest, await get(1)))))`, () =>
      okOutcome(value),
    )
    expect(output).toBe(`${sha256(texts.map(sha256).join(''))}\n`)
  })

  it('a value transfer delivers 50 MB, which are not buffered in this process', { timeout: 300_000 }, async () => {
    const large = await new SessionHarness(getBackend()).open()
    const chunk = 'All work and no play. '.repeat(3_000)
    const count = Math.ceil((50 << 20) / chunk.length)
    const value = large.storeGenerated(() => quoted(chunk, count))
    await large.runCell('import hashlib')
    const before = process.memoryUsage().rss
    let peak = before
    let pieces = 0
    const { readValue } = large
    large.readValue = async function* (ref, signal) {
      for await (const piece of readValue(ref, signal)) {
        peak = Math.max(peak, process.memoryUsage().rss)
        pieces += 1
        yield piece
      }
    }
    const { output } = await large.runCell('t = await get(1)\nprint(hashlib.sha256(t.encode()).hexdigest())', () =>
      okOutcome(value),
    )
    const expected = createHash('sha256')
    for (let part = 0; part < count; part += 1) expected.update(chunk)
    expect(output).toBe(`${expected.digest('hex')}\n`)
    expect(pieces).toBeGreaterThan(100)
    expect(peak - before).toBeLessThan(100 << 20)
    await large.close()
  })

  it('a value transfer delivers several values and inline values in one step, also one value twice', async () => {
    const texts = [1, 2, 3].map((seed) => mixedText(1_000_000, String(seed)))
    const list = harness.storeValue([{ n: 1 }])
    const values: readonly JsonValue[] = [...texts.map((text) => harness.storeValue(text)), 'small', list, list]
    const source = [
      `${digestPrelude}*texts, small, one, other = await asyncio.gather(*(get(i) for i in range(6)))`,
      'one.append(2)',
      'print(*(digest(text) for text in texts), small, one, other)',
    ].join('\n')
    const { output, stepResults } = await harness.runCell(source, ({ arguments: { a } }) =>
      okOutcome(values[Number(a)] ?? null),
    )
    expect(stepResults).toHaveLength(2)
    expect(output).toBe(`${texts.map(sha256).join(' ')} small [{'n': 1}, 2] [{'n': 1}]\n`)
  })

  it('the garbage collector runs in a new sandbox, and a value transfer leaves it as the program has set it', async () => {
    const value = harness.storeValue([{ n: 1 }])
    const source = [
      'import gc',
      'states = [gc.isenabled(), gc.get_freeze_count()]',
      'for change in gc.disable, gc.enable:',
      '    change()',
      '    await get(1)',
      '    states.append(gc.isenabled())',
      'print(states)',
    ].join('\n')
    expect((await harness.runCell(source, () => okOutcome(value))).output).toBe('[True, 0, False, True]\n')
  })

  it.each<[string, JsonValue]>([
    ['an empty object', {}],
    ['an object that looks like a reference', { 'ptc.value': { sha256: 'x', bytes: 1, preview: '' } }],
    ['numbers at the limits of their range', [0, -1, 1.5, 1e300, 5e-324, 2 ** 53 - 1]],
    ['a text with characters of every width', 'a\u0000"\\\u00e9\u4e2d\u{1F600}\u2028'],
    ['null', null],
  ])('a transferred value can be any JSON: %s', async (_what, value) => {
    const { output } = await harness.runCell('import json\nprint(json.dumps(await get(1)))', () =>
      okOutcome(harness.storeValue(value)),
    )
    expect(JSON.parse(output)).toEqual(value)
  })

  it('a transferred value can be the source of a cell', async () => {
    harness.cell += 1
    const source = harness.storeValue(`# ${'x'.repeat(300_000)}\nprint(6 * 7)`)
    const result = await harness.executeStep({ type: 'cell', cell: harness.cell, source })
    expect(result).toMatchObject({ type: 'completed', output: '42\n' })
  })

  it('transferred values are not read again for a repeated step', async () => {
    const { input, end } = await runAndDeliver(
      harness,
      'print(len(await get(1)))',
      harness.storeValue('x'.repeat(500_000)),
    )
    expect(end).toMatchObject({ type: 'completed', output: '500000\n' })
    const { readValue } = harness
    harness.readValue = () => {
      throw new Error('read again')
    }
    expect(await harness.sendStep(harness.step, input, 2)).toEqual(end)
    harness.readValue = readValue
  })

  it('a transferred value that is corrupt at its end fails the step, which can be sent again', async () => {
    const text = mixedText(3_000_000)
    const value = harness.storeValue(text)
    const { readValue } = harness
    harness.readValue = async function* (ref, signal) {
      yield* readValue(ref, signal)
      throw new PtcError('VALUE_CORRUPT', 'other bytes')
    }
    const suspended = await harness.executeStep(nextCell(harness, `${digestPrelude}print(digest(await get(1)))`))
    const input = resultsFor(suspended, value)
    await expect(harness.executeStep(input)).rejects.toMatchObject({ code: 'VALUE_CORRUPT' })
    harness.readValue = readValue
    const again = await harness.sendStep(harness.step, input)
    expect(again).toMatchObject({ type: 'completed', output: `${sha256(text)}\n` })
  })

  it('a missing value fails the step, which can be replaced', async () => {
    const value = harness.storeValue('not read')
    const { readValue } = harness
    harness.readValue = () => {
      throw new PtcError('VALUE_MISSING', 'gone')
    }
    const source = 'try:\n    await get(1)\nexcept ToolError as error:\n    print(error)'
    const suspended = await harness.executeStep(nextCell(harness, source))
    await expect(harness.executeStep(resultsFor(suspended, value))).rejects.toMatchObject({ code: 'VALUE_MISSING' })
    harness.readValue = readValue
    const results = callIndices(suspended).map((index) => ({
      index,
      outcome: { status: 'tool_error', message: 'lost it' } as const,
    }))
    expect(await harness.sendStep(harness.step, { type: 'results', results })).toMatchObject({ output: 'lost it\n' })
  })

  it('a value transfer does not count towards the time limit of the cell', async () => {
    const quick = await new SessionHarness(getBackend(), { cellSeconds: 1 }).open()
    const { readValue } = quick
    // Longer than the limit and the grace period of the session driver.
    quick.readValue = async function* (ref, signal) {
      yield new Uint8Array()
      await new Promise((resolve) => setTimeout(resolve, 5_000))
      yield* readValue(ref, signal)
    }
    const value = quick.storeValue('slow')
    expect((await quick.runCell('print(await get(1))', () => okOutcome(value))).output).toBe('slow\n')
    await quick.close()
  })

  it('a value that does not fit in the memory of the sandbox ends the cell, not the session', async () => {
    const small = await new SessionHarness(getBackend(), { memoryBytes: 128 << 20 }).open()
    await small.runCell('kept = 1')
    const value = small.storeGenerated(() => quoted('x'.repeat(1 << 20), 80))
    const { finalResult } = await small.runCell('await get(1)', () => okOutcome(value))
    expect(finalResult).toMatchObject({
      type: 'failed',
      kind: 'limit_exceeded',
      error: expect.stringContaining('memory'),
    })
    expect((await small.runCell('print(kept)')).output).toBe('1\n')
    await small.close()
  })

  it('a value that exceeds the memory while Python parses it ends the sandbox or the cell', async () => {
    const outgrow = async () => {
      const small = await new SessionHarness(getBackend(), { memoryBytes: 128 << 20 }).open()
      const value = small.storeGenerated(function* () {
        yield '[[]'
        // 24 MiB of text, several hundred of lists.
        for (let count = 0; count < 24; count += 1) yield ',[]'.repeat(349_525)
        yield ']'
      })
      const { finalResult } = await small.runCell('await get(1)', () => okOutcome(value))
      await small.close()
      return finalResult
    }
    const final = await retryMissedOomKill(
      outgrow,
      (end) => end.type === 'lost' && end.reason.includes('exit code 137'),
    )
    expect([
      { type: 'lost', cause: 'out_of_memory' },
      { type: 'failed', kind: 'limit_exceeded' },
    ]).toContainEqual(
      final.type === 'lost' ? { type: 'lost', cause: final.cause } : { type: 'failed', kind: kindOf(final) },
    )
  })
}

const okOutcome = (value: JsonValue) => ({ status: 'ok', value }) as const

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A text of at least this many bytes, with characters of every width, some of which JSON escapes. */
function mixedText(bytes: number, seed = ''): string {
  const line = `${seed}"quoted"\\\n\tZeile f\u00fcr Zeile \u4e2d\u6587 \u{1F600} \u0001 ${'plain text '.repeat(20)}`
  return line.repeat(Math.ceil(bytes / Buffer.byteLength(line)))
}

function nextCell(harness: SessionHarness, source: string): StepInput {
  harness.cell += 1
  return { type: 'cell', cell: harness.cell, source }
}

function callIndices(result: StepResult): readonly number[] {
  if (result.type !== 'suspended') throw new Error(JSON.stringify(result))
  return result.calls.map(({ index }) => index)
}

function resultsFor(result: StepResult, value: JsonValue): StepInput {
  const results: DeliveredResult[] = callIndices(result).map((index) => ({ index, outcome: okOutcome(value) }))
  return { type: 'results', results }
}

/** Runs a cell that suspends once, and delivers this value as the result of each call. */
async function runAndDeliver(harness: SessionHarness, source: string, value: JsonValue) {
  const input = resultsFor(await harness.executeStep(nextCell(harness, source)), value)
  return { input, end: await harness.executeStep(input) }
}

/** A JSON text of one long string. */
function* quoted(chunk: string, count: number): Generator<string> {
  yield '"'
  for (let part = 0; part < count; part += 1) yield chunk
  yield '"'
}

const kindOf = (result: StepResult): string | undefined => (result.type === 'failed' ? result.kind : undefined)
