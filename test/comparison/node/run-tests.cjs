// Runs the tests of one module of Node's test/parallel, each in a process of plain Node, and prints their outcomes.
// Tests that need options of the command line are left out: a cell can't have them.
const { spawnSync } = require('node:child_process')
const { readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')

const [folder, module_, seconds] = process.argv.slice(1)
const env = { ...process.env, NODE_TEST_DIR: '/tmp', NODE_TEST_KNOWN_GLOBALS: '0' }
const tests = {}
for (const file of readdirSync(folder)) {
  if (file !== `test-${module_}.js` && !(file.startsWith(`test-${module_}-`) && file.endsWith('.js'))) continue
  const source = readFileSync(path.join(folder, file), 'utf8')
  if (/^\/\/ Flags:/m.test(source)) continue
  const options = { env, timeout: seconds * 1_000, killSignal: 'SIGKILL', encoding: 'utf8' }
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [path.join(folder, file)], options)
  const isSkipped = /^1\.\.0 # Skipped/m.test(stdout)
  const outcome = signal === 'SIGKILL' ? 'killed' : status !== 0 ? 'fail' : isSkipped ? 'skip' : 'pass'
  tests[file] = { outcome, source, problem: `${stdout}${stderr}`.slice(-1_500) }
}
process.stdout.write(`\nRESULT:${Buffer.from(JSON.stringify(tests)).toString('base64')}:END\n`)
