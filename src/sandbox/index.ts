export type {
  BackendCheck,
  SandboxBackend,
  SandboxCheckpoints,
  SandboxConnection,
  SandboxEnd,
  SandboxId,
  SandboxSpec,
} from './backend.js'
export type { SandboxContents } from '../common/run/sandbox-image.js'
export type { BackendContext, BackendDefinition } from './define-backend.js'
export { type RunnerStart, runnerStart } from './runner-start.js'
export { runnerDirectory } from './runner-directory.js'
