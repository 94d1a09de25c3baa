import { type Colors } from '../text/colors.js'
import { type Line, part, formatLine } from '../text/line.js'

/** A node of the drawing. Its lines depend on the columns left at its depth. */
export interface Branch {
  readonly head: (columns: number) => Line
  /** Lines below the head and above the children. */
  readonly body?: (columns: number) => readonly Line[]
  readonly children?: readonly Branch[]
}

/** Columns of one level: `├─ `. */
const indent = 3
/** Minimum at any depth. A terminal may be narrower than the tree. */
const minColumns = 16

export function drawBranches(branches: readonly Branch[], columns: number, colors: Colors): readonly string[] {
  return branchLines(branches, columns).map((line) => formatLine(line, columns, colors))
}

function branchLines(branches: readonly Branch[], columns: number): readonly Line[] {
  const childColumns = Math.max(columns - indent, minColumns)
  return branches.flatMap((branch, index) => {
    const isLast = index === branches.length - 1
    const below = part(isLast ? '   ' : '│  ', 'dim')
    return [
      [part(isLast ? '└─ ' : '├─ ', 'dim'), ...branch.head(childColumns)],
      ...bodyLines(branch, childColumns).map((line) => [below, ...line]),
      ...branchLines(branch.children ?? [], childColumns).map((line) => [below, ...line]),
    ]
  })
}

function bodyLines({ body, children = [] }: Branch, columns: number): readonly Line[] {
  const lead = part(children.length > 0 ? '│  ' : '   ', 'dim')
  return (body?.(Math.max(columns - indent, minColumns)) ?? []).map((line) => [lead, ...line])
}
