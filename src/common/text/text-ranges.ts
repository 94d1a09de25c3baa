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

/** Returns the ranges in a text that begins with `length` other characters. */
export function moveRanges(ranges: readonly TextRange[], length: number): readonly TextRange[] {
  return length === 0 ? ranges : ranges.map(([start, end]) => [start + length, end + length])
}

/**
 * Returns the ranges in a text whose middle a marker has replaced (`truncateMiddle`).
 *
 * @param limit characters that were kept
 * @param before length of the text before
 * @param after length of the text with the marker
 */
export function cutRanges(
  ranges: readonly TextRange[],
  limit: number,
  before: number,
  after: number,
): readonly TextRange[] {
  if (before === after) return ranges
  const head = Math.ceil(limit / 2)
  const place = (position: number): number => (position <= head ? position : Math.max(position - before + after, head))
  return ranges.map(([start, end]): TextRange => [place(start), place(end)]).filter(([start, end]) => start < end)
}

/** A piece of a text: inside of the ranges, or outside of them. */
interface TextPiece {
  readonly text: string
  readonly isInside: boolean
}

/** Returns the pieces of the text, in its order. */
export function piecesOf(text: string, ranges: readonly TextRange[]): readonly TextPiece[] {
  let last = 0
  const pieces = ranges.flatMap(([start, end]) => {
    const before = { text: text.slice(last, start), isInside: false }
    last = end
    return [before, { text: text.slice(start, end), isInside: true }]
  })
  return [...pieces, { text: text.slice(last), isInside: false }].filter((piece) => piece.text !== '')
}

/** Returns the text inside of the ranges, and the text outside of them. */
export function splitText(
  text: string,
  ranges: readonly TextRange[],
): { readonly inside: string; readonly outside: string } {
  const pieces = piecesOf(text, ranges)
  const join = (isInside: boolean) =>
    pieces.flatMap((piece) => (piece.isInside === isInside ? [piece.text] : [])).join('')
  return { inside: join(true), outside: join(false) }
}
