import { z } from 'zod'
import { PtcError } from '../common/errors.js'
import type { BuiltInBackend } from '../common/run/run-config.js'
import type { PackageLists } from '../common/run/sandbox-image.js'
import { imageFields } from './image-option.js'
import { kubernetesBackend, kubernetesOptions, type KubernetesOptions } from './kubernetes/index.js'
import { type BackendDefinition, isBackendDefinition } from './define-backend.js'

/** The sandboxes of a worker. */
export interface SandboxOption {
  /**
   * `docker`, `wasm` (the embedded sandbox), `kubernetes`, or `auto`: Docker where a daemon answers, else the embedded
   * sandbox. `anthropic`: Anthropic executes the code of agents. Or the result of `defineBackend`. Default `auto`.
   * docs/guides/sandboxes.md describes them.
   */
  readonly backend?: BackendChoice
  /**
   * Size of the pool of idle sandboxes of each worker: containers, pods, or interpreters where the embedded sandbox is
   * preferred. Default 1; 0 in Docker with `ptc worker`, and in Kubernetes.
   */
  readonly warm?: number
  /**
   * The image of Docker sandboxes: `minimal`, `data` (numpy, pandas, matplotlib and friends), `polyglot` (Go, Java, Ruby,
   * and tools such as git), or the name of one of your own. Default `minimal`.
   */
  readonly image?: string
  /** Packages that are installed on top of the image, by package manager: `{ pip: ['polars==1.9.0'] }`. Default: none. */
  readonly packages?: PackageLists
  readonly wasm?: {
    /**
     * A folder of wheels, relative to the configuration: pure ones, and those for Pyodide. Code in Python can import
     * the packages in the embedded sandbox. Default: none.
     */
    readonly wheels?: string
  }
  readonly docker?: {
    /** OCI runtime of the daemon, such as `runsc`. Default: the daemon's. */
    readonly runtime?: string
  }
  /** The pods of the sandboxes, for `backend: 'kubernetes'`. */
  readonly kubernetes?: KubernetesOptions
}

type BackendChoice = BuiltInBackend | 'auto' | BackendDefinition

const backendNames: readonly unknown[] = [
  'auto',
  'docker',
  'wasm',
  'kubernetes',
  'anthropic',
] satisfies readonly BackendChoice[]

export const sandboxOption = z
  .strictObject({
    backend: z
      .custom<BackendChoice>(
        (value) => backendNames.includes(value) || isBackendDefinition(value),
        'must be "auto", "docker", "wasm", "kubernetes", "anthropic" or the result of defineBackend',
      )
      .default('auto'),
    warm: z.int().min(0).optional(),
    ...imageFields,
    wasm: z.strictObject({ wheels: z.string().min(1).max(4_096).optional() }).prefault({}),
    docker: z.strictObject({ runtime: z.string().min(1).optional() }).prefault({}),
    kubernetes: kubernetesOptions.optional(),
  })
  .prefault({})

type DefinedBackendOptions = Pick<
  z.output<typeof sandboxOption>,
  'backend' | 'kubernetes' | 'warm' | 'image' | 'packages'
>

/** The backend that is made by a definition: a custom one, and that of Kubernetes. @throws PtcError CONFIG_INVALID */
export function definedBackend({
  backend,
  kubernetes,
  warm,
  image,
  packages,
}: DefinedBackendOptions): BackendDefinition | undefined {
  if (backend !== 'kubernetes') return typeof backend === 'string' ? undefined : backend
  if (image !== undefined || packages !== undefined)
    throw new PtcError('CONFIG_INVALID', '`sandbox.image` and `sandbox.packages` are for the sandbox docker', {
      hint: 'Push an image of `ptc image build`, and name it by `sandbox.kubernetes.image`.',
    })
  return kubernetesBackend(kubernetes, warm)
}
