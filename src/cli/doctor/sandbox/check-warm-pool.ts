import { messageOf } from '../../../common/errors.js'
import { pluralize } from '../../../common/text/text.js'
import { createDockerBackend, type DockerBackend } from '../../../sandbox/docker/index.js'
import type { ResolvedConfig } from '../../../config/parse-config.js'
import { type Check, ok, warning } from '../check.js'

const name = 'Warm pool'

/** Reports the configured pool size and the idle containers. checkSandboxes reports a daemon that does not answer. */
export async function checkWarmPool(
  config: Pick<ResolvedConfig, 'sandbox'> | undefined,
  createBackend: () => Pick<DockerBackend, 'countIdleContainers' | 'close'> = createDockerBackend,
): Promise<Check> {
  const { backend = 'auto', warm } = config?.sandbox ?? {}
  if (backend === 'wasm') {
    if (warm === 0) return ok(name, 'off (sandbox.warm is 0): every session starts its own interpreter')
    return ok(name, `each worker keeps ${pluralize(warm ?? 1, 'interpreter')} started (sandbox.warm)`)
  }
  if (backend === 'kubernetes')
    return ok(
      name,
      warm === undefined || warm === 0
        ? 'off (sandbox.warm): every session starts its own pod'
        : `each worker keeps ${pluralize(warm, 'pod')} started (sandbox.warm)`,
    )
  if (backend !== 'auto' && backend !== 'docker')
    return ok(name, `not used: sandbox ${backend} manages its own sandboxes`)
  const configured = describePoolSize(warm)
  try {
    const ready = await countIdleContainers(createBackend)
    return ok(name, `${configured}; ${pluralize(ready, 'idle container')} on this Docker daemon`)
  } catch (thrown) {
    if (backend === 'auto') return ok(name, `${configured}; no Docker daemon was found, so there is no idle container`)
    return warning(name, `${configured}; the number of idle containers is unknown: ${messageOf(thrown)}`, '')
  }
}

function describePoolSize(warm: number | undefined): string {
  if (warm === undefined) {
    return '`ptc worker` keeps no idle container, `ptc dev` and commands that start a worker keep one (sandbox.warm is not set)'
  }
  if (warm === 0) return 'off (sandbox.warm is 0): every session starts its own container'
  return `each worker keeps ${pluralize(warm, 'container')} started (sandbox.warm)`
}

async function countIdleContainers(
  create: () => Pick<DockerBackend, 'countIdleContainers' | 'close'>,
): Promise<number> {
  const docker = create()
  try {
    return await docker.countIdleContainers()
  } finally {
    await docker.close()
  }
}
