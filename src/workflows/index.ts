export { agent } from './agent.js'
export { program } from './program.js'
export { session } from './named-session/workflow.js'
