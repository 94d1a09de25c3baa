const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * Scripts whose characters take two columns, full-width forms and CJK punctuation, and emoji that are drawn as
 * pictures.
 */
const wideCharacter =
  /^(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\p{Emoji_Presentation}\u3000-\u303E\u30FB\u30FC\uFF01-\uFF60\uFFE0-\uFFE6]|\p{Extended_Pictographic}\uFE0F|.\u20E3)/u
/** Half-width forms of the same scripts. */
const halfWidthCharacter = /^[\uFF61-\uFFDC\uFFE8-\uFFEE]/u
/** Each of these characters is a grapheme of one column; the segmenter takes microseconds for each. */
const oneColumnText = /^[\x20-\x7E\u00A0-\u02FF]*$/

/** Columns of a text on a terminal. The text is one line and sanitized. */
export function displayWidth(text: string): number {
  return displayWidthUpTo(text, Infinity)
}

/** Columns of a text. Counting stops above `max`, because a hostile line may be very long. */
export function displayWidthUpTo(text: string, max: number): number {
  if (oneColumnText.test(text)) return text.length
  let width = 0
  for (const segment of graphemesOf(text)) {
    width += graphemeWidth(segment)
    if (width > max) break
  }
  return width
}

/** Truncates a line to the columns, with `…` at the end; never within a grapheme. */
export function truncateToWidth(text: string, columns: number): string {
  if (columns <= 0) return ''
  // A character takes at least one code unit; marks are bounded by sanitize.
  if (oneColumnText.test(text)) return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`
  let width = 0
  let fits = ''
  for (const segment of graphemesOf(text)) {
    width += graphemeWidth(segment)
    if (width <= columns - 1) fits += segment
    else if (width > columns) return `${fits}…`
  }
  return width <= columns ? text : `${fits}…`
}

/** Wraps a line to the columns, at spaces where possible. Each piece has at least one grapheme. */
export function wrap(text: string, columns: number): readonly string[] {
  if (displayWidthUpTo(text, columns) <= columns) return [text]
  const lines: string[] = []
  let line = ''
  let width = 0
  for (const segment of graphemesOf(text)) {
    const added = graphemeWidth(segment)
    if (width + added > columns && line !== '') {
      const space = segment === ' ' ? line.length : line.lastIndexOf(' ')
      const breaks = space > line.length / 2
      lines.push(breaks ? line.slice(0, space) : line)
      line = breaks ? line.slice(space + 1) : ''
      width = displayWidth(line)
      if (segment === ' ' && line === '') continue
    }
    line += segment
    width += added
  }
  return [...lines, line]
}

/** Wraps a line to the columns, at spaces only: a longer word, such as a URL, stays whole. */
export function wrapWords(text: string, columns: number): readonly string[] {
  if (displayWidthUpTo(text, columns) <= columns) return [text]
  const lines: string[] = []
  let line: string | undefined
  let width = 0
  for (const word of text.split(' ')) {
    const added = displayWidth(word)
    if (line === undefined || width + 1 + added > columns) {
      if (line !== undefined) lines.push(line.trimEnd())
      line = word
      width = added
    } else {
      line += ` ${word}`
      width += 1 + added
    }
  }
  return [...lines, line ?? '']
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(columns - displayWidth(text), 0))
}

/** Code units per call of the segmenter, whose time is quadratic in its input. */
const segmentChunkUnits = 64

function* graphemesOf(text: string): Generator<string, void, undefined> {
  if (oneColumnText.test(text)) return yield* text
  for (let start = 0; start < text.length;) {
    const chunk = text.slice(start, start + segmentChunkUnits)
    const isLast = start + chunk.length === text.length
    for (const { segment, index } of graphemes.segment(chunk)) {
      // The last grapheme of a chunk may be incomplete: it starts the next chunk, unless it fills a whole one.
      if (!isLast && index > 0 && index + segment.length === chunk.length) break
      start += segment.length
      yield segment
    }
  }
}

function graphemeWidth(segment: string): number {
  if (oneColumnText.test(segment)) return 1
  if (/^\p{M}/u.test(segment)) return 0
  return wideCharacter.test(segment) && !halfWidthCharacter.test(segment) ? 2 : 1
}
