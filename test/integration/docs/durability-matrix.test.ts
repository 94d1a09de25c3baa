import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const page = join(root, 'docs/durability.md')
const text = readFileSync(page, 'utf8')

/** The lists of tests: each item is a name and a path in the repository. */
const linkDefinitions = [...text.matchAll(/^- \[([\w-]+)\]: `(\S+)`$/gm)]
const targets = new Map(linkDefinitions.map(([, name = '', path = '']) => [name, path]))

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

function filesOf(cell: string): string[] {
  return [...cell.matchAll(/\[([\w-]+)\]/g)].map(([, name = '']) => {
    const path = targets.get(name)
    if (path === undefined) throw new Error(`[${name}] has no link definition`)
    return join(root, path)
  })
}

const lines = text.split('\n').filter((line) => line.startsWith('|') && !line.startsWith('|---'))
const matrix = lines.filter((line) => /^\| F\d\d /.test(line)).map(cellsOf)
const survivalTable = lines
  .filter((line) => cellsOf(line).length === 5)
  .slice(1)
  .map(cellsOf)

describe('docs/durability.md', () => {
  it('docs/durability.md has a test in every cell of what survives what', () => {
    expect(survivalTable.length).toBeGreaterThan(15)
    for (const [what = '', ...cells] of survivalTable) {
      const bare = cells.filter((cell) => cell !== 'there is none' && filesOf(cell).length === 0)
      expect(bare, what).toEqual([])
    }
  })

  it('docs/durability.md names existing files, each once, and uses each name', () => {
    expect(linkDefinitions).toHaveLength(targets.size)
    for (const [name, path] of targets) {
      expect(existsSync(join(root, path)), path).toBe(true)
      expect(text.split(`[${name}]`).length, name).toBeGreaterThan(2)
    }
  })

  it('docs/durability.md has every row of the fault matrix', () => {
    const missing = ['F11', 'F20'] // numbers that the matrix never had
    const all = Array.from({ length: 40 }, (_, index) => `F${String(index + 1).padStart(2, '0')}`)
    expect(matrix.map(([row]) => row)).toEqual(all.filter((row) => !missing.includes(row)))
  })

  it.each(matrix)('docs/durability.md has tests for %s: %s', (row = '', _fault, _expected, tests = '') => {
    const files = filesOf(tests)
    expect(files.length).toBeGreaterThan(0)
    // The rows of crash points are in the file that generates their tests.
    const support = join(root, 'test/chaos/support/failpoint-tests.ts')
    const texts = files.map((file) =>
      file.includes('/failpoints/') ? readFileSync(support, 'utf8') : readFileSync(file, 'utf8'),
    )
    for (const [index, content] of texts.entries())
      expect(content, `${files[index]} says ${row}`).toMatch(new RegExp(`\\b${row}\\b`))
  })

  it('docs/durability.md has every row of the fault matrix that a test names', () => {
    const rows = new Set(matrix.map(([row]) => row))
    const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    )
    const said = files.flatMap(
      (file) => readFileSync(join(root, 'test', file), 'utf8').match(/(?<=['"`(])F\d\d(?=: )/g) ?? [],
    )
    expect([...new Set(said)].filter((row) => !rows.has(row))).toEqual([])
  })
})
