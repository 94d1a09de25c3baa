// A process that holds a warm pool, to be killed by a test: node pool-holder.ts <owner> <seconds until its spares are nobody's>.
import { createDockerBackend } from '../../src/sandbox/docker/index.js'

const [owner = '', unclaimedSeconds] = process.argv.slice(2)
const backend = createDockerBackend({ owner, warm: 2, unclaimedSeconds: Number(unclaimedSeconds) })
await backend.ensureImage()
// The pool does not keep a process; a worker does.
setInterval(() => undefined, 60_000)
