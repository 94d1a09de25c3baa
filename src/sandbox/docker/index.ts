/**
 * The Docker backend.
 *
 * Owns: containers of durable-ptc on one Docker daemon, their names and labels, the sandbox image, the warm pool.
 * Boundary: implements `SandboxBackend`. This is the only folder that imports dockerode. It carries bytes between
 * worker and runner, and knows neither the step protocol nor Temporal.
 *
 * Invariants:
 * 1. There is at most one container for a namespace, session, epoch and workflow. Its name is a function of these four,
 *    and Docker refuses a second container with the same name.
 * 2. A container without the label `ptc.namespace` is never touched.
 * 3. A rename claims an idle container and records its owner in one step. Labels never change.
 * 4. A connection attaches before it starts the container, so no byte of the runner is missed.
 * 5. A running container has no checkpoint, so no checkpoint is older than the state of its container.
 * 6. Every request has a timeout, except the wait for an exit, which ends by a signal.
 * 7. A container is created only after the daemon reported that it enforces memory, processes and seccomp.
 * 8. The name of an image that this folder builds follows from its content: runners, base and packages. Names of
 *    packages reach package managers as arguments, never through a shell.
 * 9. A container of a server (server-container.ts) has no label `ptc.namespace`. It ends with the process that started
 *    it, and Docker removes it.
 *
 * Folders, each of which imports only earlier ones: engine (requests, capabilities of the daemon), connection (attach
 * stream, exit), image (recipe, inspect, build), container (create, find, checkpoint). The states
 * of a container: container/container-state.ts.
 */
export { createDockerBackend, type DockerBackend } from './backend.js'
export type { BuildImageOptions } from './image/build-image.js'
export type { ListedImage } from './built-images.js'
export type { ListedSandbox, ReapOptions } from './expired-containers.js'
export type { DockerBackendOptions } from './options.js'
export type { ServerProgram } from './server-container.js'
