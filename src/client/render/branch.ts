import { type Colors } from './colors.js'
import { type Line, part, printLine } from './line.js'

/** A node as it is drawn. Its lines depend on the room it has, which depends on how deep it hangs. */
export interface Branch {
  readonly head: (columns: number) => Line
  /** Under the head, before the children. */
  readonly body?: (columns: number) => readonly Line[]
  readonly children?: readonly Branch[]
}

/** Columns of one level: `├─ `. */
const indent = 3
/** However deep: a terminal may be narrower than the tree. */
const leastColumns = 16

export function drawBranches(branches: readonly Branch[], columns: number, colors: Colors): readonly string[] {
  return linesOf(branches, columns).map((line) => printLine(line, columns, colors))
}

function linesOf(branches: readonly Branch[], columns: number): readonly Line[] {
  const room = Math.max(columns - indent, leastColumns)
  return branches.flatMap((branch, place) => {
    const last = place === branches.length - 1
    const below = part(last ? '   ' : '│  ', 'dim')
    return [
      [part(last ? '└─ ' : '├─ ', 'dim'), ...branch.head(room)],
      ...bodyOf(branch, room).map((line) => [below, ...line]),
      ...linesOf(branch.children ?? [], room).map((line) => [below, ...line]),
    ]
  })
}

function bodyOf({ body, children = [] }: Branch, columns: number): readonly Line[] {
  const lead = part(children.length > 0 ? '│  ' : '   ', 'dim')
  return (body?.(Math.max(columns - indent, leastColumns)) ?? []).map((line) => [lead, ...line])
}
