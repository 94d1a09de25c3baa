const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Scripts whose characters take two columns, full-width forms and CJK punctuation, and emoji that are drawn as pictures. */
const wide =
  /^(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\p{Emoji_Presentation}\u3000-\u303E\u30FB\u30FC\uFF01-\uFF60\uFFE0-\uFFE6]|\p{Extended_Pictographic}\uFE0F|.\u20E3)/u
/** Half-width forms of the same scripts. */
const narrow = /^[\uFF61-\uFFDC\uFFE8-\uFFEE]/u
const ascii = /^[\x20-\x7E]*$/

/** Columns a text takes on a terminal. The text is one line, and neutralised. */
export function widthOf(text: string): number {
  return widthUpTo(text, Infinity)
}

/** Columns a text takes; counting stops when `most` is exceeded, because a hostile line may be very long. */
export function widthUpTo(text: string, most: number): number {
  if (ascii.test(text)) return text.length
  let width = 0
  for (const segment of graphemesOf(text)) {
    width += graphemeWidth(segment)
    if (width > most) break
  }
  return width
}

/** Cuts a line to the columns there are, with `…` for what is missing; never through a character. */
export function cutToWidth(text: string, columns: number): string {
  if (columns <= 0) return ''
  // A character takes at least one code unit; marks are bounded by neutralise.
  if (ascii.test(text)) return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`
  let width = 0
  let fits = ''
  for (const segment of graphemesOf(text)) {
    width += graphemeWidth(segment)
    if (width <= columns - 1) fits += segment
    else if (width > columns) return `${fits}…`
  }
  return width <= columns ? text : `${fits}…`
}

/** Breaks a line into pieces that fit, at spaces where there are some. At least one character a piece. */
export function wrap(text: string, columns: number): readonly string[] {
  if (widthUpTo(text, columns) <= columns) return [text]
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
      width = widthOf(line)
      if (segment === ' ' && line === '') continue
    }
    line += segment
    width += added
  }
  return [...lines, line]
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(columns - widthOf(text), 0))
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(columns - widthOf(text), 0)) + text
}

/** Code units given to the segmenter at once: its cost grows with the square of its input. */
const pieceUnits = 64

function* graphemesOf(text: string): Generator<string, void, undefined> {
  for (let start = 0; start < text.length;) {
    const piece = text.slice(start, start + pieceUnits)
    const isLast = start + piece.length === text.length
    for (const { segment, index } of graphemes.segment(piece)) {
      // The last grapheme of a piece may be incomplete: it begins the next piece, unless it fills a whole one.
      if (!isLast && index > 0 && index + segment.length === piece.length) break
      start += segment.length
      yield segment
    }
  }
}

function graphemeWidth(segment: string): number {
  if (/^\p{M}/u.test(segment)) return 0
  return wide.test(segment) && !narrow.test(segment) ? 2 : 1
}
