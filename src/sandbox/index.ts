export type {
  BackendCheck,
  BackendProblem,
  SandboxBackend,
  SandboxConnection,
  SandboxEnd,
  SandboxId,
  SandboxCheckpoints,
  SandboxSpec,
} from './backend.js'
export { type BackendContext, type BackendDefinition, defineBackend } from './define-backend.js'
export { runnerDirectory } from './runner-directory.js'
export { PtcError, type ErrorCode } from '../common/errors.js'
export { defaultLimits, type Limits } from '../common/limits.js'
