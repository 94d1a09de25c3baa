import { createDockerBackend } from '../../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { conformanceOptions } from '../../../support/sandbox/conformance-columns.js'
import { describeConformance } from '../../../support/sandbox/describe-conformance.js'

describeDocker('JavaScript in the Docker sandbox', () => {
  describeConformance(conformanceOptions('dockerJavaScript', () => createDockerBackend()))
})

describeDocker('TypeScript in the Docker sandbox', () => {
  describeConformance(conformanceOptions('dockerTypeScript', () => createDockerBackend()))
})
