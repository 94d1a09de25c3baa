import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { conformanceOptions } from '../../support/sandbox/conformance-columns.js'
import { describeConformance } from '../../support/sandbox/describe-conformance.js'

// The other groups are in test/slow/sandbox/docker/javascript-conformance.test.ts.
describeDocker('programs of JavaScript in the Docker sandbox', () => {
  const options = conformanceOptions('dockerJavaScript', () => createDockerBackend())
  describeConformance(options, ['calls', 'time', 'cells', 'output'])
})
