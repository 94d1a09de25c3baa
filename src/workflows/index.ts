export { agent } from './agent.js'
export { program } from './program.js'
