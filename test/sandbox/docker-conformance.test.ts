import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { describeDocker } from '../support/docker.js'
import { conformance } from './conformance.js'

describeDocker('the Docker sandbox', () => {
  conformance({
    makeBackend: () => createDockerBackend(),
    survivesItsMaker: true,
    stopsCode: true,
    hasProcesses: true,
    isBoundary: true,
  })
})
