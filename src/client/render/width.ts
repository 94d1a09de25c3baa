const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Scripts whose characters take two columns, full-width forms and CJK punctuation, and emoji that are drawn as pictures. */
const wide =
  /^(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\p{Emoji_Presentation}\u3000-\u303E\u30FB\u30FC\uFF01-\uFF60\uFFE0-\uFFE6]|\p{Extended_Pictographic}\uFE0F|.\u20E3)/u
/** Half-width forms of the same scripts. */
const narrow = /^[\uFF61-\uFFDC\uFFE8-\uFFEE]/u
const ascii = /^[\x20-\x7E]*$/

/** Columns a text takes on a terminal. The text is one line, and neutralised. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment)
  return width
}

/** Cuts a line to the columns there are, with `…` for what is missing; never through a character. */
export function cutToWidth(text: string, columns: number): string {
  if (columns <= 0) return ''
  // A character takes at least one code unit; marks are bounded by neutralise.
  if (ascii.test(text)) return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`
  let width = 0
  let fits = ''
  for (const { segment } of graphemes.segment(text)) {
    width += graphemeWidth(segment)
    if (width <= columns - 1) fits += segment
    else if (width > columns) return `${fits}…`
  }
  return width <= columns ? text : `${fits}…`
}

/** Breaks a line into pieces that fit, at spaces where there are some. At least one character a piece. */
export function wrap(text: string, columns: number): readonly string[] {
  if (widthOf(text) <= columns) return [text]
  const lines: string[] = []
  let line = ''
  let width = 0
  for (const { segment } of graphemes.segment(text)) {
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

function graphemeWidth(segment: string): number {
  if (/^\p{M}/u.test(segment)) return 0
  return wide.test(segment) && !narrow.test(segment) ? 2 : 1
}
