import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { conformanceOptions } from '../../support/sandbox/conformance-columns.js'
import { describeConformance } from '../../support/sandbox/describe-conformance.js'
import { describeGvisor, gvisorRuntime as runtime, missingGvisorRuntime } from '../../support/docker/describe-gvisor.js'

const missing = await missingGvisorRuntime()
const keepsParked =
  missing === undefined && (await createDockerBackend({ runtime }).checkpoints?.isAvailable()) === true

describeGvisor('the Docker sandbox under gVisor', missing, () => {
  describeConformance(
    conformanceOptions('dockerPython', () => createDockerBackend({ runtime }), { supportsCheckpoint: keepsParked }),
  )
})
