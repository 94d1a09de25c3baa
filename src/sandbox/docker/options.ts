import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { defaultLimits, type Limits } from '../../common/limits.js'
import { runnerDirectory } from '../assets.js'

const milliseconds = z.int().min(1)

const schema = z
  .strictObject({
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
    /** The image that the project's own one starts from; Debian or one of its kind. Default: PTC_BASE_IMAGE, else the Dockerfile's. */
    baseImage: z.string().min(1).optional(),
    /** Containers kept started for sessions to come, 10 MiB or so each. */
    warm: z.int().min(0).default(0),
    /** Whose sessions the warm ones are for: the namespace of their ids. */
    owner: z.string().min(1).optional(),
    /** The limits of the warm ones; a session with others gets a container of its own. */
    limits: z.custom<Limits>((value) => typeof value === 'object' && value !== null).default(defaultLimits),
    /** Seconds after which a warm one that nobody used may be removed by anybody; its pool replaces it before. */
    unclaimedSeconds: z
      .int()
      .min(1)
      .default(10 * 60),
  })
  .refine(({ warm, owner }) => warm === 0 || owner !== undefined, 'warm containers need an owner')

/** Where the daemon is, is told by the environment, as for the docker CLI: DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH. */
export type DockerBackendOptions = z.input<typeof schema>

export type DockerBackendSettings = z.output<typeof schema>

/** @throws PtcError CONFIG_INVALID */
export function parseOptions(options: DockerBackendOptions): DockerBackendSettings {
  const parsed = schema.safeParse(options)
  if (parsed.success) return parsed.data
  throw new PtcError('CONFIG_INVALID', `options of the Docker sandbox: ${z.prettifyError(parsed.error)}`)
}
