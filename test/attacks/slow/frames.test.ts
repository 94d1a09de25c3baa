import { describe } from 'vitest'
import { describeGvisor, gvisorRuntime, missingGvisorRuntime } from '../../support/docker/describe-gvisor.js'
import { describeHostileFrames } from '../support/hostile-frames.js'

describe('frames of a hostile program (embedded)', () => describeHostileFrames({ backend: 'wasm' }))
describeGvisor('frames of a hostile program (gVisor)', await missingGvisorRuntime(), () =>
  describeHostileFrames({ backend: 'docker', runtime: gvisorRuntime }),
)
