import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { describeDocker } from '../support/docker.js'
import { conformance } from './conformance.js'

describeDocker('the Docker sandbox', () => {
  conformance({
    makeBackend: () => createDockerBackend(),
    // Podman ends a container's input with the connection to it: docs/backends.md.
    survivesItsMaker: process.env['PTC_TEST_PODMAN'] === undefined,
    stopsCode: true,
    hasProcesses: true,
    isBoundary: true,
  })
})
