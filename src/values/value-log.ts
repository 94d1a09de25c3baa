import type { ValueLog, ValueLogSegment } from '../common/json/value-log.js'
import type { JsonValue } from '../common/json/json.js'
import { externalValue } from '../common/json/external-value.js'
import type { Values } from './values.js'

/** A log with this many segments is compacted by the next append: each segment costs one read. */
const maxSegments = 16

/** Appends items, which must be plain JSON. Earlier segments are read only for compaction. */
export async function appendToLog(
  values: Values,
  log: ValueLog | null,
  items: readonly unknown[],
  neededBy: string,
  signal: AbortSignal,
): Promise<ValueLog> {
  const isCompacted = log !== null && log.segments >= maxSegments
  const segment: ValueLogSegment<unknown> = isCompacted
    ? { previous: null, items: [...(await readLog(values, log, neededBy, signal)), ...items] }
    : { previous: log, items }
  // The history has the reference twice per turn, and the start of a segment is not informative.
  const head = { ...(await values.store(segment as unknown as JsonValue, signal)), preview: '' }
  return { head, segments: isCompacted ? 1 : (log?.segments ?? 0) + 1, length: (log?.length ?? 0) + items.length }
}

/**
 * Returns the items of a log from index `from` on. Earlier segments are not read. The items have the type that {@link
 * appendToLog} got: the store verifies the content.
 *
 * @throws PtcError VALUE_MISSING, VALUE_CORRUPT; the message names the purpose of the log
 */
export async function readLog<Item = unknown>(
  values: Pick<Values, 'load'>,
  log: ValueLog | null,
  neededBy: string,
  signal: AbortSignal,
  from = 0,
): Promise<Item[]> {
  const segments: (readonly Item[])[] = []
  let current = log
  while (current !== null && current.length > from) {
    const segment = (await values.load(
      externalValue(current.head),
      neededBy,
      signal,
    )) as unknown as ValueLogSegment<Item>
    segments.push(segment.items)
    current = segment.previous
  }
  return segments
    .toReversed()
    .flat()
    .slice(Math.max(from - (current?.length ?? 0), 0))
}
