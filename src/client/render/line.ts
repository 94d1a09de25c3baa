import type { Colors } from './colors.js'
import { cutToWidth, widthOf, widthUpTo } from './width.js'

export type Style = 'plain' | 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** A piece of a line in one style. Its text is neutralised. */
export interface Part {
  readonly text: string
  readonly style: Style
}

export type Line = readonly Part[]

export function part(text: string, style: Style = 'plain'): Part {
  return { text, style }
}

/** Counting stops when `most` is exceeded. */
function widthOfLine(line: Line, most: number): number {
  return line.reduce((sum, { text }) => (sum > most ? sum : sum + widthUpTo(text, most)), 0)
}

/** A line on which `left` gives way, so that `right` is always to be read (down to half the columns). */
export function spread(left: Line, right: Line, columns: number): Line {
  if (right.length === 0) return left
  const room = Math.max(columns - widthOfLine(right, columns) - 2, Math.floor(columns / 2))
  const shown = cutLine(left, room)
  return [...shown, part('  '), ...wholeFacts(right, columns - widthOfLine(shown, columns) - 2)]
}

const factSeparator = ' · '

/** A fact that does not fit is left out as a whole: half a number is another number. */
function wholeFacts(line: Line, columns: number): Line {
  return line.map(({ text, style }) => {
    const facts = text.split(factSeparator)
    while (facts.length > 1 && widthOf(facts.join(factSeparator)) > columns) facts.pop()
    return part(facts.join(factSeparator), style)
  })
}

/** Facts on as many lines as they need; none is broken. */
export function factLines(facts: readonly string[], columns: number): readonly string[] {
  const lines: string[] = []
  for (const fact of facts) {
    const longer = [...lines.slice(-1), fact].join(factSeparator)
    if (lines.length > 0 && widthOf(longer) <= columns) lines[lines.length - 1] = longer
    else lines.push(fact)
  }
  return lines
}

/** Cut to the columns there are; colour codes come after, so they are never cut through and take no room. */
export function cutLine(line: Line, columns: number): Line {
  const parts: Part[] = []
  let room = columns
  for (const [place, { text, style }] of line.entries()) {
    if (widthOfLine(line.slice(place), room) <= room) return [...parts, ...line.slice(place)]
    const width = widthUpTo(text, room)
    // A part that would leave no room for the `…` of what follows is cut itself.
    if (width >= room) return [...parts, { text: cutToWidth(`${text} `, room), style }]
    parts.push({ text, style })
    room -= width
  }
  return parts
}

/** The line as it is printed: cut, coloured, without blanks at its end. */
export function printLine(line: Line, columns: number, colors: Colors): string {
  return withoutBlanks(cutLine(line, columns))
    .map(({ text, style }) => paint(text, style, colors))
    .join('')
}

function withoutBlanks(line: Line): Line {
  const last = line.findLastIndex(({ text }) => text.trimEnd() !== '')
  return line.slice(0, last + 1).map((each, place) => (place === last ? { ...each, text: each.text.trimEnd() } : each))
}

function paint(text: string, style: Style, colors: Colors): string {
  return style === 'plain' || text === '' ? text : colors[style](text)
}
