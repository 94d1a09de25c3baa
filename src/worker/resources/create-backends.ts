import { hostedBackend } from '../../common/agent/hosted-code.js'
import { defined } from '../../common/defined.js'
import { withEnvironment } from '../../common/run/environment.js'
import type { BuiltInBackend } from '../../common/run/run-config.js'
import { PtcError } from '../../common/errors.js'
import type { SandboxBackend } from '../../sandbox/backend.js'
import type { BackendDefinition } from '../../sandbox/define-backend.js'
import { createDockerBackend, type DockerBackend } from '../../sandbox/docker/index.js'
import { hasPackages } from '../../sandbox/image-option.js'
import { createWasmBackend } from '../../sandbox/wasm/index.js'
import type { ResolvedConfig } from '../../config/parse-config.js'

interface Backends {
  /** Backends in order of preference: `auto` uses the first one. */
  readonly backends: readonly SandboxBackend[]
  readonly docker: DockerBackend | undefined
  /** Tells the user the chosen backend and its isolation in one line. */
  readonly notice: string
}

interface CreateBackendsOptions {
  /** Owner of the sandboxes: the namespace of their ids. */
  readonly owner: string
  /** Size of the pool of idle containers without a setting in the configuration. */
  readonly warm: number
  readonly onProgress: (line: string) => void
}

const backendNotices = {
  docker: 'code runs in hardened Docker containers',
  anthropic: 'Anthropic executes the code of agents; this worker executes none',
  wasm: 'code runs in the embedded sandbox (WebAssembly in a jailed process: for trusted models; Docker isolates better)',
} satisfies Partial<Record<BuiltInBackend, string>>

/**
 * Creates the backends that the configuration names. A custom backend is the only one. With `auto`, Docker is preferred
 * when a daemon answers, else the embedded backend; the other one stays available to runs that name it.
 *
 * @throws PtcError SANDBOX_WHEELS_INVALID; SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING, SANDBOX_UNENFORCED when a
 *   required backend is unusable
 */
export async function createBackends(config: ResolvedConfig, options: CreateBackendsOptions): Promise<Backends> {
  const { sandbox } = config
  if (sandbox.customBackend !== undefined && sandbox.backend === sandbox.customBackend.name)
    return createCustomBackend(sandbox.customBackend, config, options)
  if (sandbox.backend === hostedBackend) {
    const notice = `sandbox: ${hostedBackend}; ${backendNotices[hostedBackend]}`
    return { backends: [], docker: undefined, notice }
  }
  const docker = sandbox.backend === 'wasm' ? undefined : await createDocker(config, options)
  const preferred = docker ? 'docker' : 'wasm'
  const wasm = sandbox.backend === 'docker' ? undefined : await createEmbedded(config, preferred, options)
  const backends = [docker, wasm].filter((backend) => backend !== undefined)
  return { backends, docker, notice: `sandbox: ${preferred}; ${backendNotices[preferred]}` }
}

async function createEmbedded(
  {
    sandbox: {
      backend,
      warm = 1,
      wasm: { wheels },
      packages,
    },
    language,
  }: ResolvedConfig,
  preferred: BuiltInBackend,
  { onProgress }: CreateBackendsOptions,
): Promise<SandboxBackend> {
  if (backend === 'wasm' && hasPackages(packages))
    onProgress('`sandbox.packages` are not in the embedded sandbox: see `sandbox.wasm.wheels`')
  const embedded = createWasmBackend({ warm: preferred === 'wasm' ? warm : 0, language, wheels })
  try {
    await embedded.ensureWheels()
    return embedded
  } catch (thrown) {
    await embedded.close()
    throw thrown
  }
}

async function createCustomBackend(
  definition: BackendDefinition,
  config: ResolvedConfig,
  { owner, onProgress }: CreateBackendsOptions,
): Promise<Backends> {
  const { name, notice = 'code runs in a custom backend' } = definition
  const { limits } = config.runConfig
  const backend = await definition.create({ namespace: owner, limits, language: preparedLanguage(config), onProgress })
  if (backend.name !== name) {
    await backend.close()
    throw new PtcError('CONFIG_INVALID', `the backend ${name} calls itself ${backend.name}`)
  }
  const differing = (['files', 'network'] as const).find((capability) => backend[capability] !== definition[capability])
  if (differing !== undefined) {
    await backend.close()
    throw new PtcError('CONFIG_INVALID', `the backend ${name} and its definition differ in \`${differing}\``)
  }
  const { usable, problems } = await backend.check()
  if (!usable) {
    await backend.close()
    const errors = problems.filter(({ severity }) => severity === 'error')
    const code = errors.find((error) => error.code !== undefined)?.code ?? 'SANDBOX_UNAVAILABLE'
    throw new PtcError(code, `${name}: ${errors.map(({ message }) => message).join('; ')}`, {
      hint: errors.map(({ remedy }) => remedy).join(' '),
    })
  }
  for (const { message } of problems) onProgress(`warning: ${message}`)
  return { backends: [backend], docker: undefined, notice: `sandbox: ${name}; ${notice}` }
}

/** The language of idle sandboxes. */
function preparedLanguage({ language, environment }: ResolvedConfig): string {
  return environment ? withEnvironment(language) : language
}

async function createDocker(
  config: ResolvedConfig,
  { owner, warm, onProgress }: CreateBackendsOptions,
): Promise<DockerBackend | undefined> {
  const { sandbox, runConfig } = config
  const { image, packages, agentImages } = sandbox
  const { runtime } = sandbox.docker
  const docker = createDockerBackend({
    ...defined({ image, packages, runtime }),
    warm: sandbox.warm ?? warm,
    namespace: owner,
    limits: runConfig.limits,
    language: preparedLanguage(config),
  })
  try {
    await docker.ensureImage({ onProgress })
    for (const choice of agentImages) await docker.ensureImage({ choice, onProgress })
    return docker
  } catch (thrown) {
    await docker.close()
    if (sandbox.backend === 'docker' || !PtcError.isInstance(thrown)) throw thrown
    // A wrong name of a package is a mistake in the configuration, which another sandbox does not mend.
    const isConfigured = packages !== undefined || agentImages.length > 0
    if (isConfigured && thrown.code === 'SANDBOX_IMAGE_BUILD_FAILED') throw thrown
    onProgress(`Docker can't be used: ${thrown.message}`)
    onProgress('runs that use Docker wait until a worker with Docker runs; this worker takes none of them')
    return undefined
  }
}
