import { readFile, writeFile } from 'node:fs/promises'
import { type ResultRow, summarize, targetOf } from './measure.js'
import type { BenchOptions } from './options.js'
import { numberTexts, targetText } from './report.js'

const page = new URL('../results.md', import.meta.url)

const heading = '\n## '

const introduction = `# Results of the benchmarks

\`npm run bench\` writes this page: each benchmark replaces its own section. What the rows mean is in
[docs/benchmarks.md](../docs/benchmarks.md). In the charts \`|\` is the target, and a bar is the median in proportion to
it; a bar that ends with \`>\` is longer than twice the target.

**Not measured:** a Temporal server across a network, Temporal Cloud, Temporal on another database than SQLite; model
calls; several hosts; recovery of a whole host; container runtimes other than the daemon's default; macOS and Windows.
`

/** Replaces or adds the section of a benchmark in bench/results.md. */
export async function writeResults(
  name: string,
  machine: Readonly<Record<string, string>>,
  { runs, calls }: BenchOptions,
  rows: readonly ResultRow[],
): Promise<void> {
  const sections = new Map(await readSections())
  const facts = Object.entries(machine).map(([fact, value]) => `${fact}: ${value}`)
  const at = `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`
  sections.set(
    name,
    [
      `${heading}${name}\n`,
      `${at}, \`--runs ${runs} --calls ${calls}\`:\n${facts.join(';\n')}.\n`,
      tableOf(rows),
      ...chartOf(rows),
    ].join('\n'),
  )
  const sorted = [...sections].sort(([one], [other]) => one.localeCompare(other))
  await writeFile(page, introduction + sorted.map(([, section]) => section).join(''))
}

async function readSections(): Promise<(readonly [string, string])[]> {
  const text = await readFile(page, 'utf8').catch(() => '')
  const [, ...sections] = text.split(heading)
  return sections.map((section) => [section.slice(0, section.indexOf('\n')), heading + section] as const)
}

function tableOf(rows: readonly ResultRow[]): string {
  const lines = rows.map((row) => `| ${[row.name, ...numberTexts(row), targetText(row)].join(' | ')} |`)
  return `| | min | median | max | target |\n|---|--:|--:|--:|---|\n${lines.join('\n')}\n`
}

/** Width of a bar that reaches the target. */
const targetWidth = 20

/** Bars of the rows with a target. */
function chartOf(rows: readonly ResultRow[]): readonly string[] {
  const bars = rows.flatMap((row) => {
    const target = targetOf(row)
    if (target === undefined) return []
    const length = Math.round((summarize(row.samples).median / target.value) * targetWidth)
    const bar = length > 2 * targetWidth ? `${'#'.repeat(2 * targetWidth - 1)}>` : '#'.repeat(length)
    const marked = bar.padEnd(2 * targetWidth)
    const chart = `${marked.slice(0, targetWidth)}|${marked.slice(targetWidth)}`
    return [{ name: row.name, chart, text: `${numberTexts(row)[1]}, ${targetText(row)}` }]
  })
  if (bars.length === 0) return []
  const width = Math.max(...bars.map(({ name }) => name.length))
  const lines = bars.map(({ name, chart, text }) => `${name.padEnd(width)} ${chart}  ${text}`)
  return ['```text', ...lines, '```\n']
}
