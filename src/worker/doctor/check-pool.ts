import { messageOf } from '../../common/errors.js'
import { plural } from '../../common/text.js'
import { createDockerBackend, type DockerBackend } from '../../sandbox/docker/index.js'
import type { ResolvedConfig } from '../config/parse-config.js'
import { type Check, ok, warning } from './check.js'

const name = 'Warm pool'

/** Containers that workers keep started, as configured and as they are. A daemon that does not answer is another check's. */
export async function checkPool(
  config: Pick<ResolvedConfig, 'sandbox'> | undefined,
  createBackend: () => Pick<DockerBackend, 'countSpares' | 'close'> = createDockerBackend,
): Promise<Check> {
  const { backend = 'auto', docker, wasm } = config?.sandbox ?? {}
  if (backend === 'wasm') {
    const kept = wasm?.warm ?? 0
    if (kept === 0) return ok(name, 'off (sandbox.wasm.warm is 0): every session starts an interpreter of its own')
    return ok(name, `each worker keeps ${plural(kept, 'interpreter')} started (sandbox.wasm.warm)`)
  }
  if (backend !== 'auto' && backend !== 'docker')
    return ok(name, `none of ours: sandbox ${backend} sees to that itself`)
  const configured = inWords(docker?.warm)
  try {
    const ready = await countReady(createBackend)
    return ok(name, `${configured}; ${plural(ready, 'container')} ready on this Docker daemon now`)
  } catch (thrown) {
    if (backend === 'auto') return ok(name, `${configured}; no Docker daemon here, so none is ready`)
    return warning(name, `${configured}; how many are ready can't be told: ${messageOf(thrown)}`, '')
  }
}

function inWords(warm: number | undefined): string {
  if (warm === undefined) {
    return 'sandbox.docker.warm is not set: `ptc worker` keeps no container started, `ptc dev` and commands that bring a worker keep 1'
  }
  if (warm === 0) return 'off (sandbox.docker.warm is 0): every session starts a container of its own'
  return `each worker keeps ${plural(warm, 'container')} started (sandbox.docker.warm)`
}

async function countReady(create: () => Pick<DockerBackend, 'countSpares' | 'close'>): Promise<number> {
  const docker = create()
  try {
    return await docker.countSpares()
  } finally {
    await docker.close()
  }
}
