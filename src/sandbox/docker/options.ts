import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { runnerDirectory } from '../assets.js'

const milliseconds = z.int().min(1)

const schema = z.strictObject({
  /** The image of sandboxes; default: built from the runner of this installation, named by its content. */
  image: z.string().min(1).optional(),
  /** An OCI runtime of the daemon, such as `runsc`; default: the daemon's own. */
  runtime: z.string().min(1).optional(),
  /** Seconds after which a container is nobody's and may be removed: the last net, under close and cancel. */
  lifetimeSeconds: z
    .int()
    .min(1)
    .default(6 * 60 * 60),
  /** Milliseconds a request to the daemon may take. */
  callMs: milliseconds.default(15_000),
  /** Milliseconds opening a sandbox may take, all requests together. */
  openMs: milliseconds.default(60_000),
  /** Milliseconds a sandbox may take to read what it is sent. */
  sendMs: milliseconds.default(30_000),
  /** Milliseconds `check` may take. */
  checkMs: milliseconds.default(3_000),
  /** The folder that the image is made from. */
  runnerDirectory: z.string().min(1).default(runnerDirectory),
})

/** Where the daemon is, is told by the environment, as for the docker CLI: DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH. */
export type DockerBackendOptions = z.input<typeof schema>

export type DockerBackendSettings = z.output<typeof schema>

/** @throws PtcError CONFIG_INVALID */
export function parseOptions(options: DockerBackendOptions): DockerBackendSettings {
  const parsed = schema.safeParse(options)
  if (parsed.success) return parsed.data
  throw new PtcError('CONFIG_INVALID', `options of the Docker sandbox: ${z.prettifyError(parsed.error)}`)
}
