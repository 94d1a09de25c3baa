import { randomUUID } from 'node:crypto'
import { messageOf } from '../../common/errors.js'
import { streamName, type StreamSink } from '../../stream/index.js'
import { type Check, ok, warning } from './check.js'

const name = 'Live stream'

/** Appends, reads and removes an entry. Runs work without their stream. Returns nothing without a stream. */
export async function checkStream(sink: StreamSink | undefined): Promise<readonly Check[]> {
  if (sink === undefined) return []
  const stream = streamName('doctor', randomUUID())
  try {
    await sink.append(stream, ['{}'])
    try {
      const reader = sink.reader(stream)
      const read = await reader.read(undefined, 2_000)
      await reader.close()
      if (read.length > 0) return [ok(name, 'a test entry was written and read back')]
      return [warning(name, 'a test entry was written but not read back', remedy)]
    } finally {
      await sink.remove(stream)
    }
  } catch (thrown) {
    return [warning(name, `fails: ${messageOf(thrown)}`, remedy)]
  } finally {
    await sink.close().catch(() => undefined)
  }
}

const remedy =
  "Correct `stream` in the configuration. Runs work without it, but their text and output can't be watched."
