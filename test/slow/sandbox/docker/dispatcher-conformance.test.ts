import { afterAll, describe, it } from 'vitest'
import { sandboxConformance } from '../../../../src/sandbox/conformance/index.js'
import { createDockerBackend } from '../../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { conformanceOptions } from '../../../support/sandbox/conformance-columns.js'

/** What is different behind the dispatcher, with the reason. */
const differences: Readonly<Record<string, string>> = {
  'Python: may replace functions that the runner uses too': 'it takes a snapshot, and there are none',
  'cells over a limit: get a hint when they poll the clock until the time limit': 'the dispatcher stops the cell',
}

describeDocker('the first of several languages in the Docker sandbox', () => {
  describe.each(['dockerPython', 'dockerJavaScript'] as const)('%s', (column) => {
    const options = conformanceOptions(column, () => createDockerBackend())
    const suite = sandboxConformance({ ...options, language: `${options.language},bash` })
    afterAll(() => suite.close(), 180_000)
    for (const { name, timeoutMs, run } of suite.cases) {
      if (!/snapshot/i.test(name) && !(name in differences)) it(name, { timeout: timeoutMs }, run)
    }
  })
})
