import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { describeDocker } from '../support/docker.js'
import { conformance } from './conformance.js'

describeDocker('the Docker sandbox with a warm pool', () => {
  const makeBackend = () => createDockerBackend({ warm: 2, owner: 'test' })
  conformance({ makeBackend, survivesItsMaker: true, stopsCode: true, hasProcesses: true, isBoundary: true })
})
