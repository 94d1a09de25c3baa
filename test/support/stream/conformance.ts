import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import type { StreamEntry, StreamReader, StreamSink } from '../../../src/stream/index.js'

/** One kind of sink, as seen from outside. */
export interface StreamSinkFactory {
  /** Opens the sink. Each call stands for another process. */
  create(options: { readonly expires?: number }): StreamSink
}

const uniqueName = (prefix: string): string => `${prefix}-${randomUUID()}`

/** A reader that is closed after the test. */
function readerOf(sink: StreamSink, name: string): StreamReader {
  const reader = sink.reader(name)
  onTestFinished(() => reader.close())
  return reader
}

/** Reads until there are this many entries. */
export async function readEntries(reader: StreamReader, count: number, from?: string): Promise<readonly StreamEntry[]> {
  const entries: StreamEntry[] = []
  while (entries.length < count) entries.push(...(await reader.read(entries.at(-1)?.id ?? from, 1_000)))
  return entries
}

const textsOf = (entries: readonly StreamEntry[]): readonly string[] => entries.map(({ text }) => text)

/** Tests of the contract of every sink (src/stream/sink.ts). */
export function describeStreamSink(factory: StreamSinkFactory): void {
  function open(options: { readonly expires?: number } = {}): StreamSink {
    const sink = factory.create(options)
    onTestFinished(() => sink.close())
    return sink
  }

  it('a sink returns entries in order, also those of another process', async () => {
    const name = uniqueName('stream')
    const [one, other] = [open(), open()]
    await one.append(name, ['a', 'b'])
    await other.append(name, ['c'])
    await one.append(name, ['d'])
    const entries = await readEntries(readerOf(open(), name), 4)
    expect(textsOf(entries)).toEqual(['a', 'b', 'c', 'd'])
    expect(new Set(entries.map(({ id }) => id)).size).toBe(4)
  })

  it('a sink continues after an entry', async () => {
    const name = uniqueName('stream')
    const sink = open()
    await sink.append(name, ['a', 'b', 'c'])
    const [first] = await readEntries(readerOf(sink, name), 3)
    expect(textsOf(await readEntries(readerOf(open(), name), 2, first?.id))).toEqual(['b', 'c'])
  })

  it('a sink returns an entry as soon as it is appended', async () => {
    const name = uniqueName('stream')
    const sink = open()
    const reading = readerOf(sink, name).read(undefined, 60_000)
    await open().append(name, ['late'])
    expect(textsOf(await reading)).toEqual(['late'])
  })

  it('a sink returns nothing when no entry arrives', async () => {
    const reader = readerOf(open(), uniqueName('stream'))
    expect(await reader.read(undefined, 0)).toEqual([])
    expect(await reader.read(undefined, 20)).toEqual([])
  })

  it('a sink removes a stream, and starts it again with new ids', async () => {
    const name = uniqueName('stream')
    const [one, other] = [open(), open()]
    await one.remove(name)
    await one.append(name, ['a', 'b'])
    await one.append(`${name}-other`, ['stays'])
    const reader = readerOf(open(), name)
    const before = await readEntries(reader, 2)
    await other.remove(name)
    expect(await reader.read(undefined, 0)).toEqual([])
    await one.append(name, ['c'])
    const after = await readEntries(reader, 1, before.at(-1)?.id)
    expect(textsOf(after)).toEqual(['c'])
    expect(before.map(({ id }) => id)).not.toContain(after[0]?.id)
    expect(textsOf(await readEntries(readerOf(one, `${name}-other`), 1))).toEqual(['stays'])
  })

  it('a sink keeps streams apart, and texts unchanged', async () => {
    const name = uniqueName('stream')
    const sink = open()
    const text = JSON.stringify({ text: 'ä\u{1F600}\n\u2028"\\', long: 'x'.repeat(600_000) })
    await Promise.all([sink.append(`${name}/../a b`, [text, '{}']), sink.append(name, ['other'])])
    expect(textsOf(await readEntries(readerOf(sink, `${name}/../a b`), 2))).toEqual([text, '{}'])
    expect(textsOf(await readEntries(readerOf(sink, name), 1))).toEqual(['other'])
  })

  it('a sink accepts entries of many processes at once', async () => {
    const name = uniqueName('stream')
    const all = Array.from({ length: 20 }, (_, sink) => Array.from({ length: 10 }, (_, entry) => `${sink}/${entry}`))
    await Promise.all(all.map((entries) => open().append(name, entries)))
    const read = textsOf(await readEntries(readerOf(open(), name), 200))
    for (const [index, entries] of all.entries()) {
      expect(read.filter((text) => text.startsWith(`${index}/`))).toEqual(entries)
    }
  })

  it('a sink works again after it was closed', async () => {
    const name = uniqueName('stream')
    const sink = open()
    await sink.append(name, ['a'])
    await sink.close()
    await sink.close()
    await sink.append(name, ['b'])
    expect(textsOf(await readEntries(readerOf(sink, name), 2))).toEqual(['a', 'b'])
  })

  it('a sink removes a stream without new entries, and starts another one under its name', async () => {
    const name = uniqueName('stream')
    const sink = open({ expires: 1_500 })
    await sink.append(name, ['old'])
    const reader = readerOf(sink, name)
    const [old] = await readEntries(reader, 1)
    await expect
      .poll(async () => {
        // A sink may remove streams when it appends to others.
        await sink.append(uniqueName('other'), ['x'])
        return reader.read(undefined, 0)
      })
      .toEqual([])
    await sink.append(name, ['new'])
    // The id belongs to an entry that no longer exists.
    expect(textsOf(await readEntries(reader, 1, old?.id))).toEqual(['new'])
  })
}
