import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { defaultLanguageName } from '../../common/names.js'
import { defaultLimits, type Limits } from '../../common/run/limits.js'
import { imageFields } from '../image-option.js'
import { runnerDirectory } from '../runner-directory.js'
import { defaultOrphanSeconds, defaultStoppedOrphanSeconds } from './container/container-create-options.js'

const milliseconds = z.int().min(1)

const schema = z
  .strictObject({
    ...imageFields,
    /** An OCI runtime of the daemon, such as `runsc`; default: the default runtime of the daemon. */
    runtime: z.string().min(1).optional(),
    /** Seconds until a container expires. A reaper removes expired containers. (`ptc.expires` has seconds.) */
    lifetimeSeconds: z
      .int()
      .min(1)
      .default(6 * 60 * 60),
    /** Seconds until a container ends by itself, after a worker has last kept it alive. */
    orphanSeconds: z.int().min(1).default(defaultOrphanSeconds),
    /** The same time for a container in which code has stopped process 1, which is possible under gVisor. */
    stoppedOrphanSeconds: z.int().min(1).default(defaultStoppedOrphanSeconds),
    /** Milliseconds that a request to the daemon may take. */
    requestTimeoutMs: milliseconds.default(15_000),
    /** Milliseconds that a sandbox may take to read the bytes of one `send`. */
    sendTimeoutMs: milliseconds.default(30_000),
    /** Milliseconds that `check` may take. */
    checkTimeoutMs: milliseconds.default(3_000),
    /** The folder from which the image is built. */
    runnerDirectory: z.string().min(1).default(runnerDirectory),
    /**
     * The base of the built-in image, derived from Debian. Default: PTC_BASE_IMAGE, or else the base of the Dockerfile.
     */
    baseImage: z.string().min(1).optional(),
    /** Size of the warm pool: containers that are started before a session needs them, about 10 MiB each. */
    warm: z.int().min(0).default(0),
    /** The namespace of the sessions that use the warm pool. */
    namespace: z.string().min(1).optional(),
    /** The limits of the containers in the warm pool. A session with other limits gets a new container. */
    limits: z.custom<Limits>((value) => typeof value === 'object' && value !== null).default(defaultLimits),
    /** The language of the containers in the warm pool. A session in another language gets a new container. */
    language: z.string().min(1).default(defaultLanguageName),
    /** Seconds until an idle container of the warm pool expires. Its pool replaces it after 80 % of that time. */
    maxIdleSeconds: z
      .int()
      .min(1)
      .default(10 * 60),
  })
  .refine(({ warm, namespace }) => warm === 0 || namespace !== undefined, 'warm containers need a namespace')

/**
 * The address of the daemon is not an option: it comes from DOCKER_HOST or the Docker context, as for the docker CLI
 * (engine/daemon-address.ts).
 */
export type DockerBackendOptions = z.input<typeof schema>

export type DockerBackendSettings = z.output<typeof schema>

/** @throws PtcError CONFIG_INVALID */
export function parseOptions(options: DockerBackendOptions): DockerBackendSettings {
  const parsed = schema.safeParse(options)
  if (parsed.success) return parsed.data
  throw new PtcError('CONFIG_INVALID', `options of the Docker sandbox: ${z.prettifyError(parsed.error)}`)
}
