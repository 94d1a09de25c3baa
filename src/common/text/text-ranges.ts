/** A part of a text: its start and its end, in UTF-16 code units. */
export type TextRange = readonly [start: number, end: number]

/** Maximum number of ranges of one text. With their 4 KB they stay inline in the history. */
export const maxTextRanges = 250

/** Returns whether these are parts of a text of this length, in ascending order and not empty. */
export function areTextRanges(ranges: readonly TextRange[], length: number): boolean {
  let last = 0
  for (const [start, end] of ranges) {
    if (start < last || end <= start) return false
    last = end
  }
  return last <= length
}
