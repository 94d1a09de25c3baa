export type {
  BackendCheck,
  SandboxBackend,
  SandboxCheckpoints,
  SandboxConnection,
  SandboxEnd,
  SandboxId,
  SandboxSpec,
} from './backend.js'
export type { BackendContext, BackendDefinition } from './define-backend.js'
export { runnerDirectory } from './runner-directory.js'
