import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BackendCapabilities } from '../src/sandbox/conformance/conformance-context.js'
import { requirementsOf, type Row, rowsOf } from '../src/sandbox/conformance/language-suite.js'
import { languageSuites } from '../src/sandbox/conformance/suite.js'
import { conformanceColumns, type ConformanceColumn } from '../test/support/sandbox/conformance-columns.js'

/** The page with a column for each language in each kind of sandbox. */
export const languagesPage = join(import.meta.dirname, '../docs/languages.md')

/** Why a sandbox has not what a behavior requires. */
const reasons: Readonly<Record<keyof BackendCapabilities, string>> = {
  supportsReattach: 'the sandbox ends with its worker',
  supportsInterrupt: 'code is ended with its sandbox',
  supportsProcesses: 'code has no processes and threads',
  providesIsolation: 'there is no isolation',
  supportsCheckpoint: 'needs a runtime with checkpoints, such as gVisor',
  supportsFiles: 'the sandbox has no files',
  supportsRunFiles: 'the sandbox has no files',
  supportsNetwork: 'code has no network',
  supportsContents: 'what the sandbox has is not known',
}

/** The text of the page with its current table. */
export function currentPage(): string {
  const [before, rest = ''] = readFileSync(languagesPage, 'utf8').split(/(?<=<!-- behaviors -->\n)/)
  return `${before}\n${tables()}\n${rest.slice(rest.indexOf('<!-- end of behaviors -->'))}`
}

function tables(): string {
  const columns: readonly ConformanceColumn[] = Object.values(conformanceColumns)
  const rows = columns.map(({ language }) => {
    const suite = languageSuites.find((each) => each.language === language)
    if (!suite) throw new Error(`there are no cases of the language ${language}`)
    return rowsOf(suite)
  })
  const [first = []] = rows
  const groups = [...new Set(first.map(({ group }) => group))]
  return groups
    .map((group) => {
      const lines = first.flatMap((row, index) => {
        if (row.group !== group) return []
        const cells = columns.map(({ capabilities }, column) => cellOf(rows[column]?.[index] ?? row, capabilities))
        return [`| ${[row.name, ...cells].join(' | ')} |`]
      })
      const title = `${group.charAt(0).toUpperCase()}${group.slice(1)}`
      const head = [
        `| ${[title, ...columns.map((each) => each.title)].join(' | ')} |`,
        `|---${'|---'.repeat(columns.length)}|`,
      ]
      return `${[...head, ...lines].join('\n')}\n`
    })
    .join('\n')
}

function cellOf(row: Row, capabilities: BackendCapabilities): string {
  const missing = requirementsOf(row).find((each) => capabilities[each] !== true)
  if (missing !== undefined) return `no: ${reasons[missing]}`
  const { code } = row
  return typeof code === 'object' && 'difference' in code ? code.difference.replaceAll('|', '\\|') : 'yes'
}
