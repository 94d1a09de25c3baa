// `npm run coverage [-- vitest arguments]`: the unit and integration tests with the coverage of lines: of the tests
// themselves, of the processes that they start, and of the workflow bundle. Fails under the threshold.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from '../build.mjs'
import { linesOfProcesses } from './process-coverage.mjs'
import { printCountOnExit, runTests, vitestSelection } from './run-tests.mjs'
import { progress, root, setup, stop } from '../setup.mjs'

/** Percent of lines that unit and integration tests must cover. */
const threshold = 89

const folder = join(root, 'coverage')
const processes = join(folder, 'processes')
const maps = join(folder, 'dist')

printCountOnExit()
setup()
// The coverage of processes is mapped by the files of `dist`.
await build({ isMerged: false })
rmSync(folder, { recursive: true, force: true })
mkdirSync(processes, { recursive: true })
process.env['PTC_PROCESS_COVERAGE'] = processes
process.exit(
  await runTests(vitestSelection(['unit', 'integration']), {
    vitestOptions: ['--coverage.enabled'],
    printReports: printCoverage,
  }),
)

/** @returns the messages of failures */
function printCoverage() {
  const file = join(folder, 'lcov.info')
  progress('mapping the coverage of processes')
  compileWithMaps()
  const files = parseLcov(readFileSync(file, 'utf8'))
  for (const [path, lines] of linesOfProcesses(processes, { dist: join(root, 'dist'), maps, root })) {
    const hits = files.get(path)
    for (const line of lines) if (hits?.get(line) === 0) hits.set(line, 1)
  }
  writeFileSync(file, formatLcov(files))
  rmSync(processes, { recursive: true })
  rmSync(maps, { recursive: true })

  const total = printTable(files)
  const isWhole = process.argv.length === 2
  return isWhole && total < threshold ? [`the coverage of lines is ${total} %, less than ${threshold} %`] : []
}

/** Compiles the same code as `dist` with source maps, which are not published. */
function compileWithMaps() {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '-p', 'tsconfig.build.json', '--outDir', maps, '--sourceMap']
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) stop('the sources do not compile; see above.')
}

/** @returns the hits of each line, by path and line */
function parseLcov(text) {
  const files = new Map()
  let lines
  for (const [, key, value] of text.matchAll(/^(SF|DA):(.*)$/gm)) {
    if (key === 'SF') files.set(value, (lines = new Map()))
    else lines.set(...value.split(',', 2).map(Number))
  }
  return files
}

function formatLcov(files) {
  return [...files]
    .map(([path, lines]) => {
      const data = [...lines].map(([line, hits]) => `DA:${line},${hits}\n`).join('')
      return `SF:${path}\n${data}LF:${lines.size}\nLH:${coveredOf(lines)}\nend_of_record\n`
    })
    .join('')
}

/** @returns the percentage of all lines */
function printTable(files) {
  const rows = new Map()
  const all = { covered: 0, lines: 0 }
  for (const [path, lines] of files) {
    const name = path.split('/').slice(0, -1).slice(0, 3).join('/')
    if (!rows.has(name)) rows.set(name, { covered: 0, lines: 0 })
    for (const row of [rows.get(name), all]) {
      row.covered += coveredOf(lines)
      row.lines += lines.size
    }
  }
  console.log('\ncoverage of lines')
  for (const [name, row] of [...rows].sort(([a], [b]) => a.localeCompare(b, 'en'))) printRow(name, row)
  printRow('all', all)
  return percent(all)
}

function printRow(name, row) {
  console.log(`${percent(row).toFixed(1).padStart(6)} %  ${name} (${row.covered} of ${row.lines})`)
}

function coveredOf(lines) {
  return [...lines.values()].filter((hits) => hits > 0).length
}

function percent({ covered, lines }) {
  return lines === 0 ? 100 : Math.floor((1_000 * covered) / lines) / 10
}
