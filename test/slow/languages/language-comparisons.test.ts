import { expect, it } from 'vitest'
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

it('the list of tests of ECMAScript that do not pass only shrinks', () => {
  expect(expectedDifferences('test262/expected-differences-docker.txt').length).toBeLessThanOrEqual(4)
})

it.skipIf(process.env['PTC_TEST262'] === undefined)('cells of JavaScript pass a sample of test262', async () => {
  const file = 'test262/expected-differences-docker.txt'
  const expected = expectedDifferences(file).map(({ module, test }) => `${module} ${test}`)
  const { status, output } = await runComparison('test262', expected, ['docker'])
  expect(output).not.toContain('FAILED')
  expect(status).toBe(0)
})
