import { createDockerBackend } from '../../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { describeConformance } from '../../../support/sandbox/describe-conformance.js'

describeDocker('the Docker sandbox', () => {
  describeConformance({
    makeBackend: () => createDockerBackend(),
    supportsReattach: true,
    supportsInterrupt: true,
    supportsProcesses: true,
    providesIsolation: true,
    supportsFiles: true,
  })
})
