import { expect, it } from 'vitest'
import { expectedDifferences, runComparison } from '../../support/comparison.js'
import { describeDocker } from '../../support/docker/describe-docker.js'

const known = 'test_pickle.CompatPickleTests test.test_pickle.CompatPickleTests.test_exceptions'
const unchanged = 'test_bisect test.test_bisect.TestBisectC.test_lookups_with_key_function'

it('the list of expected differences only shrinks', () => {
  expect(expectedDifferences('cpython/expected-differences.txt').length).toBeLessThanOrEqual(96)
})

// A small part of `npm run compare:cpython`, which compares all of CPython's tests and takes hours.
describeDocker('the comparison with plain Python', () => {
  it('the comparison with plain Python passes when only expected differences occur', async () => {
    const { status, output } = await runComparison(
      'cpython',
      [`${known}  # tools are builtins`],
      ['test_contextlib', 'test_pickle.CompatPickleTests'],
    )
    expect(output).toMatch(/test_contextlib: (\d+) tests, \1 pass plain, \1 under the runner, 0 differ/)
    expect(output).toMatch(/; 1 differ, 1 of them as expected;/)
    expect(status).toBe(0)
  })

  it('the comparison fails for an unexpected difference, and for an expected one that no longer occurs', async () => {
    const { status, output } = await runComparison(
      'cpython',
      [unchanged],
      ['test_bisect', 'test_pickle.CompatPickleTests'],
    )
    expect(output).toContain(`FAILED ${known}: pass -> fail`)
    expect(output).toContain(`FAILED ${unchanged}: no longer differs, remove it`)
    expect(status).toBe(1)
  })
})
