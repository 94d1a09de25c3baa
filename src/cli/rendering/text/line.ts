import type { Colors } from './colors.js'
import { truncateToWidth, displayWidth, displayWidthUpTo } from './display-width.js'

export type Style = 'plain' | 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** A part of a line with one style. Its text is sanitized. */
export interface Part {
  readonly text: string
  readonly style: Style
}

export type Line = readonly Part[]

export function part(text: string, style: Style = 'plain'): Part {
  return { text, style }
}

/** Counting stops above `max`. */
function lineWidth(line: Line, max: number): number {
  return line.reduce((sum, { text }) => (sum > max ? sum : sum + displayWidthUpTo(text, max)), 0)
}

/** A line with `left` truncated so that `right` fits; `left` keeps at least half the columns. */
export function justify(left: Line, right: Line, columns: number): Line {
  if (right.length === 0) return left
  const leftColumns = Math.max(columns - lineWidth(right, columns) - 2, Math.floor(columns / 2))
  const shown = truncateLine(left, leftColumns)
  return [...shown, part('  '), ...dropOverflowingFacts(right, columns - lineWidth(shown, columns) - 2)]
}

const factSeparator = ' · '

/** Drops facts that do not fit. It never cuts a fact, because half a number is another number. */
function dropOverflowingFacts(line: Line, columns: number): Line {
  return line.map(({ text, style }) => {
    const facts = text.split(factSeparator)
    while (facts.length > 1 && displayWidth(facts.join(factSeparator)) > columns) facts.pop()
    return part(facts.join(factSeparator), style)
  })
}

/** Facts on as many lines as needed; no fact is broken. */
export function wrapFacts(facts: readonly string[], columns: number): readonly string[] {
  const lines: string[] = []
  for (const fact of facts) {
    const longer = [...lines.slice(-1), fact].join(factSeparator)
    if (lines.length > 0 && displayWidth(longer) <= columns) lines[lines.length - 1] = longer
    else lines.push(fact)
  }
  return lines
}

/** Truncates a line to the columns. Colour codes are added later, so they take no columns and are not truncated. */
function truncateLine(line: Line, columns: number): Line {
  const parts: Part[] = []
  let remaining = columns
  for (const [index, { text, style }] of line.entries()) {
    if (lineWidth(line.slice(index), remaining) <= remaining) return [...parts, ...line.slice(index)]
    const width = displayWidthUpTo(text, remaining)
    // A part that leaves no column for the `…` of the next one is truncated itself.
    if (width >= remaining) return [...parts, { text: truncateToWidth(`${text} `, remaining), style }]
    parts.push({ text, style })
    remaining -= width
  }
  return parts
}

/** The line as printed: truncated, coloured, without trailing spaces. */
export function formatLine(line: Line, columns: number, colors: Colors): string {
  return trimLineEnd(truncateLine(line, columns))
    .map(({ text, style }) => applyStyle(text, style, colors))
    .join('')
}

function trimLineEnd(line: Line): Line {
  const last = line.findLastIndex(({ text }) => text.trimEnd() !== '')
  return line.slice(0, last + 1).map((each, index) => (index === last ? { ...each, text: each.text.trimEnd() } : each))
}

function applyStyle(text: string, style: Style, colors: Colors): string {
  return style === 'plain' || text === '' ? text : colors[style](text)
}
