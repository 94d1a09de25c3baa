// `node scripts/tests/update-test-durations.mjs`: writes the durations of the last test run (test-report.json) to
// test-durations.json. Slices and the order of files depend on them. Run it after `npm run test:all` on a quiet
// machine.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, stop } from '../setup.mjs'
import { nameOf } from './reports/test-results.mjs'

const report = join(root, 'test-report.json')
const table = join(root, 'scripts/tests/test-durations.json')

if (!existsSync(report)) stop('there is no test-report.json: run the tests first.')
const { files } = JSON.parse(readFileSync(report, 'utf8'))
const measured = files.filter(({ hasEnded }) => hasEnded).map((file) => [nameOf(file), Math.ceil(file.seconds)])
const known = Object.entries(JSON.parse(readFileSync(table, 'utf8')))
const all = Object.fromEntries([...known, ...measured])
const names = Object.keys(all).filter((name) => existsSync(join(root, name.split(' ')[1])))
const sorted = Object.fromEntries(names.sort().map((name) => [name, all[name]]))
writeFileSync(table, `${JSON.stringify(sorted, undefined, 2)}\n`)
