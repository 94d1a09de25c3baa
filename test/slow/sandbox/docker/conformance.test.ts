import { createDockerBackend } from '../../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { describeConformance } from '../../../support/sandbox/describe-conformance.js'

describeDocker('the Docker sandbox', () => {
  describeConformance({
    makeBackend: () => createDockerBackend(),
    // Podman ends a container's input with the connection to it: docs/guides/sandboxes.md.
    supportsReattach: process.env['PTC_TEST_PODMAN'] === undefined,
    supportsInterrupt: true,
    supportsProcesses: true,
    providesIsolation: true,
  })
})
