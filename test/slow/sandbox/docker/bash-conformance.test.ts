import { createDockerBackend } from '../../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { conformanceOptions } from '../../../support/sandbox/conformance-columns.js'
import { describeConformance } from '../../../support/sandbox/describe-conformance.js'

describeDocker('bash in the Docker sandbox', () => {
  describeConformance(conformanceOptions('dockerBash', () => createDockerBackend()))
})
