import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { readExpected } from '../../comparison/outcomes.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-comparison-'))
const known = 'test_pickle.CompatPickleTests test.test_pickle.CompatPickleTests.test_exceptions'
const unchanged = 'test_bisect test.test_bisect.TestBisectC.test_lookups_with_key_function'

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('the list of expected differences only shrinks', () => {
  const list = readFileSync(new URL('../../comparison/cpython/expected-differences.txt', import.meta.url), 'utf8')
  expect(readExpected(list).length).toBeLessThanOrEqual(96)
})

// A small part of `npm run compare:cpython`, which compares all of CPython's tests and takes hours.
describeDocker('the comparison with plain Python', () => {
  it('the comparison with plain Python passes when only expected differences occur', async () => {
    const { status, output } = await compare(
      [`${known}  # tools are builtins`],
      ['test_contextlib', 'test_pickle.CompatPickleTests'],
    )
    expect(output).toMatch(/test_contextlib: (\d+) tests, \1 pass plain, \1 under the runner, 0 differ/)
    expect(output).toMatch(/; 1 differ, 1 of them as expected;/)
    expect(status).toBe(0)
  })

  it('the comparison fails for an unexpected difference, and for an expected one that no longer occurs', async () => {
    const { status, output } = await compare([unchanged], ['test_bisect', 'test_pickle.CompatPickleTests'])
    expect(output).toContain(`FAILED ${known}: pass -> fail`)
    expect(output).toContain(`FAILED ${unchanged}: no longer differs, remove it`)
    expect(status).toBe(1)
  })
})

async function compare(expected: readonly string[], modules: readonly string[]) {
  const file = join(folder, 'expected.txt')
  writeFileSync(file, expected.join('\n'))
  const child = spawn(
    process.execPath,
    ['node_modules/jiti/lib/jiti-cli.mjs', 'test/comparison/cpython/compare.ts', ...modules],
    { env: { ...process.env, PTC_COMPARE_EXPECTED: file }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let output = ''
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()))
  const [status] = await once(child, 'close')
  return { status, output }
}
