// A process with a warm pool, which a test kills: node pool-process.ts <namespace> <seconds until its idle containers
// expire>.
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'

const [owner = '', maxIdleSeconds] = process.argv.slice(2)
const backend = createDockerBackend({ namespace: owner, warm: 2, maxIdleSeconds: Number(maxIdleSeconds) })
await backend.ensureImage()
// The pool does not keep the process running, but a worker does.
setInterval(() => undefined, 60_000)
