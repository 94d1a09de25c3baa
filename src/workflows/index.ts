export { agent } from './agent.js'
export { program } from './program.js'
export { session } from './session-owner.js'
