// A process that owns a dev server and that a test kills: node server-owner-process.ts <state directory>.
import { startDevServer } from '../../../src/dev-server/index.js'

const server = await startDevServer({
  stateDirectory: process.argv[2],
  onProgress: () => {},
  signal: AbortSignal.timeout(150_000),
})
console.log(server.address)
