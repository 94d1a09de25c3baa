import { defined } from '../common/defined.js'
import type { Limits } from '../common/run/limits.js'
import type { DockerBackend, DockerBackendOptions } from '../sandbox/docker/index.js'
import type { OpenContainer } from '../tools/sources/mcp/container-transport.js'

interface ContainerSettings extends Pick<DockerBackendOptions, 'image' | 'packages'> {
  readonly runtime?: string | undefined
  readonly limits: Limits
}

/** Starts MCP servers in containers of the sandbox image. Docker is loaded and asked for the first server. */
export function serverContainers({ image, packages, runtime, limits }: ContainerSettings): OpenContainer {
  let docker: Promise<DockerBackend> | undefined
  const prepare = async (): Promise<DockerBackend> => {
    const { createDockerBackend } = await import('../sandbox/docker/index.js')
    const backend = createDockerBackend(defined({ image, packages, runtime }))
    await backend.ensureImage()
    return backend
  }
  return async (program, signal) => {
    const prepared = (docker ??= prepare())
    // The next server tries again.
    prepared.catch(() => {
      if (docker === prepared) docker = undefined
    })
    return (await prepared).startServer({ ...program, limits }, signal)
  }
}
