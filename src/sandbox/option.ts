import { z } from 'zod'
import type { BuiltInBackend } from '../common/run/run-config.js'
import { type BackendDefinition, isBackendDefinition } from './define-backend.js'

/** The sandboxes of a worker. */
export interface SandboxOption {
  /**
   * `docker`, `wasm` (the embedded sandbox), or `auto`: Docker where a daemon answers, else the embedded sandbox.
   * `anthropic`: Anthropic executes the code of agents. Or the result of `defineBackend`. Default `auto`.
   * docs/guides/sandboxes.md describes them.
   */
  readonly backend?: BackendChoice
  /**
   * Size of the pool of idle sandboxes of each worker: containers, or interpreters where the embedded sandbox is
   * preferred. Default 1; 0 in Docker with `ptc worker`.
   */
  readonly warm?: number
  readonly docker?: {
    /** Image of the sandbox. Default: built from the runner of this installation. */
    readonly image?: string
    /** OCI runtime of the daemon, such as `runsc`. Default: the daemon's. */
    readonly runtime?: string
  }
}

type BackendChoice = BuiltInBackend | 'auto' | BackendDefinition

const backendNames: readonly unknown[] = ['auto', 'docker', 'wasm', 'anthropic'] satisfies readonly BackendChoice[]

export const sandboxOption = z
  .strictObject({
    backend: z
      .custom<BackendChoice>(
        (value) => backendNames.includes(value) || isBackendDefinition(value),
        'must be "auto", "docker", "wasm", "anthropic" or the result of defineBackend',
      )
      .default('auto'),
    warm: z.int().min(0).optional(),
    docker: z.strictObject({ image: z.string().min(1).optional(), runtime: z.string().min(1).optional() }).prefault({}),
  })
  .prefault({})
