import { describe } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { describeGvisor, gvisorRuntime, missingGvisorRuntime } from '../../support/docker/describe-gvisor.js'
import { describeHostileFrames } from '../support/hostile-frames.js'

describeDocker('frames of a hostile program (docker)', () => describeHostileFrames({ backend: 'docker' }))
describe('frames of a hostile program (embedded)', () => describeHostileFrames({ backend: 'wasm' }))
describeGvisor('frames of a hostile program (gVisor)', await missingGvisorRuntime(), () =>
  describeHostileFrames({ backend: 'docker', runtime: gvisorRuntime }),
)
