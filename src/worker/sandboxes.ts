import type { BuiltInBackend } from '../common/plan.js'
import { PtcError } from '../common/errors.js'
import type { SandboxBackend } from '../sandbox/backend.js'
import type { BackendDefinition } from '../sandbox/define-backend.js'
import { createDockerBackend, type DockerBackend } from '../sandbox/docker/index.js'
import { createWasmBackend } from '../sandbox/wasm/index.js'
import type { ResolvedConfig } from './config/parse-config.js'

export interface Sandboxes {
  /** The first is what `auto` means here. */
  readonly backends: readonly SandboxBackend[]
  readonly docker: DockerBackend | undefined
  /** One line for the user: what was chosen, and what that means. */
  readonly notice: string
}

export interface SandboxesOptions {
  /** Whose sandboxes they are: the namespace of their ids. */
  readonly owner: string
  /** Containers kept started, when the configuration does not say. */
  readonly warm: number
  readonly onProgress: (line: string) => void
}

const meaning: Readonly<Record<BuiltInBackend, string>> = {
  docker: 'code runs in hardened Docker containers',
  wasm: 'code runs in the embedded sandbox (Pyodide in a jailed process: fine for trusted models, Docker is the stronger wall)',
}

/**
 * The backends of this host, as configured. A backend of the configuration's own is the only one. With `auto`, Docker is used where a daemon answers, else the embedded one;
 * whichever is not preferred stays available for runs that ask for it by name.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING, SANDBOX_UNENFORCED when what was asked for can't be had
 */
export async function prepareSandboxes(config: ResolvedConfig, options: SandboxesOptions): Promise<Sandboxes> {
  const { sandbox } = config
  if (sandbox.own !== undefined && sandbox.backend === sandbox.own.name) return prepareOwn(sandbox.own, config, options)
  const docker = sandbox.backend === 'wasm' ? undefined : await prepareDocker(config, options)
  const preferred = docker ? 'docker' : 'wasm'
  const wasm =
    sandbox.backend === 'docker' ? undefined : createWasmBackend({ warm: preferred === 'wasm' ? sandbox.wasm.warm : 0 })
  const backends = [docker, wasm].filter((backend) => backend !== undefined)
  return { backends, docker, notice: `sandbox: ${preferred}; ${meaning[preferred]}` }
}

async function prepareOwn(
  definition: BackendDefinition,
  { plan }: ResolvedConfig,
  { owner, onProgress }: SandboxesOptions,
): Promise<Sandboxes> {
  const { name, notice = 'code runs in a backend of your own' } = definition
  const backend = await definition.create({ namespace: owner, limits: plan.limits, onProgress })
  if (backend.name !== name) {
    await backend.close()
    throw new PtcError('CONFIG_INVALID', `the backend ${name} calls itself ${backend.name}`)
  }
  const { usable, problems } = await backend.check()
  if (!usable) {
    await backend.close()
    const errors = problems.filter(({ severity }) => severity === 'error')
    throw new PtcError('SANDBOX_UNAVAILABLE', `${name}: ${errors.map(({ message }) => message).join('; ')}`, {
      hint: errors.map(({ remedy }) => remedy).join(' '),
    })
  }
  for (const { message } of problems) onProgress(`warning: ${message}`)
  return { backends: [backend], docker: undefined, notice: `sandbox: ${name}; ${notice}` }
}

async function prepareDocker(
  { sandbox, plan }: ResolvedConfig,
  { owner, warm, onProgress }: SandboxesOptions,
): Promise<DockerBackend | undefined> {
  const { image, runtime } = sandbox.docker
  const docker = createDockerBackend({
    ...(image === undefined ? {} : { image }),
    ...(runtime === undefined ? {} : { runtime }),
    warm: sandbox.docker.warm ?? warm,
    owner,
    limits: plan.limits,
  })
  try {
    await docker.ensureImage({ onProgress })
    return docker
  } catch (thrown) {
    await docker.close()
    if (sandbox.backend === 'docker' || !PtcError.isInstance(thrown)) throw thrown
    onProgress(`Docker can't be used: ${thrown.message}`)
    return undefined
  }
}
