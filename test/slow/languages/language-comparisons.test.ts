import { describe, expect, it } from 'vitest'
import { expectedDifferences, runComparison } from '../../support/comparison.js'
import { describeDocker } from '../../support/docker/describe-docker.js'

const known = 'queue test-queue-microtask.js'
const unchanged = 'microtask test-microtask-queue-run.js'

it('the list of expected differences from plain Node only shrinks', () => {
  expect(expectedDifferences('node/expected-differences.txt').length).toBeLessThanOrEqual(32)
})

// A small part of `npm run compare:node`.
describeDocker('the comparison with plain Node', () => {
  it('the comparison fails for an unexpected difference, and for an expected one that no longer occurs', async () => {
    const expected = [unchanged, 'queue test-queue-microtask-uncaught-asynchooks.js']
    const { status, output } = await runComparison('node', expected, ['microtask', 'queue'])
    expect(output).toMatch(/microtask: (\d+) tests, \1 pass plain, \1 under the runner, 0 differ/)
    expect(output).toContain(`FAILED ${known}: pass -> fail`)
    expect(output).toContain(`FAILED ${unchanged}: no longer differs, remove it`)
    expect(output).toContain('2 differ, 1 of them as expected;')
    expect(status).toBe(1)
  })
})

it('the list of expected differences from plain bash only shrinks', () => {
  expect(expectedDifferences('bash/expected-differences.txt').length).toBeLessThanOrEqual(8)
})

// A small part of `npm run compare:bash`.
describeDocker('the comparison with plain bash', () => {
  it('the comparison with plain bash passes when only expected differences occur', async () => {
    const { status, output } = await runComparison('bash', ['cprint cprint.tests'], ['attr', 'cprint'])
    expect(output).toContain('attr: 1 tests, 1 pass plain, 1 under the runner, 0 differ')
    expect(output).toContain('1 differ, 1 of them as expected;')
    expect(status).toBe(0)
  })
})

/** Comparisons of cells in JavaScript with what their tests say, by the variable that names a checkout of the tests. */
const javascriptTests = [
  { suite: 'test262', kind: 'docker', checkout: 'PTC_TEST262', count: 4 },
  { suite: 'test262', kind: 'wasm', checkout: 'PTC_TEST262', count: 4 },
  { suite: 'human-eval-x', kind: 'docker', checkout: 'PTC_HUMAN_EVAL_X', count: 3 },
  { suite: 'human-eval-x', kind: 'wasm', checkout: 'PTC_HUMAN_EVAL_X', count: 3 },
] as const

describe.each(javascriptTests)('$suite in cells of JavaScript ($kind)', ({ suite, kind, checkout, count }) => {
  const differences = expectedDifferences(`${suite}/expected-differences-${kind}.txt`)

  it('the list of tests that do not pass only shrinks', () => {
    expect(differences.length).toBeLessThanOrEqual(count)
  })

  it.skipIf(process.env[checkout] === undefined)('all other tests pass', async () => {
    const expected = differences.map(({ module, test }) => `${module} ${test}`)
    const { status, output } = await runComparison(suite, expected, [kind])
    expect(output).not.toContain('FAILED')
    expect(status).toBe(0)
  })
})
