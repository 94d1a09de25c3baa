import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { describeConformance } from '../../support/sandbox/describe-conformance.js'
import { describeGvisor, gvisorRuntime as runtime, missingGvisorRuntime } from '../../support/docker/describe-gvisor.js'

const missing = await missingGvisorRuntime()
const keepsParked =
  missing === undefined && (await createDockerBackend({ runtime }).checkpoints?.isAvailable()) === true

describeGvisor('the Docker sandbox under gVisor', missing, () => {
  describeConformance({
    makeBackend: () => createDockerBackend({ runtime }),
    supportsReattach: true,
    supportsInterrupt: true,
    supportsProcesses: true,
    providesIsolation: true,
    supportsFiles: true,
    supportsCheckpoint: keepsParked,
  })
})
