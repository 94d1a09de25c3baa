export { createDockerBackend, type DockerBackend } from './backend.js'
export type { BuildImageOptions } from './build-image.js'
export type { ListedSandbox, ReapOptions } from './leftovers.js'
export type { DockerBackendOptions } from './options.js'
