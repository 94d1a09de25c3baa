import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import type { DockerEngine } from './engine.js'
import { dockerfile, runnerLabel, type ImageSource } from './image-source.js'

/** What can be wrong with an image; undefined when nothing is. */
export interface ImageState {
  /** The immutable id; undefined when there is no such image. */
  readonly id: string | undefined
  readonly problem: string | undefined
  readonly remedy: string
}

const statusCodes = { 200: true, 404: 'no such image', 500: 'server error' }

const imageAnswer = z.object({
  Id: z.string(),
  Config: z
    .object({
      Labels: z.record(z.string(), z.string()).nullish(),
      Volumes: z.record(z.string(), z.unknown()).nullish(),
    })
    .nullish(),
  RootFS: z.object({ Layers: z.array(z.string()).nullish() }).nullish(),
})

/** Looks an image up and says whether sandboxes can be made of it. @throws PtcError SANDBOX_UNAVAILABLE */
export async function inspectImage(
  engine: DockerEngine,
  source: ImageSource,
  image: string,
  signal?: AbortSignal,
): Promise<ImageState> {
  const remedy = remedyFor(source, image)
  const answer = await readImage(engine, image, signal)
  if (answer === undefined) return { id: undefined, problem: `there is no image ${image}`, remedy }
  const { Id, Config } = answer
  const volumes = Object.keys(Config?.Volumes ?? {})
  const digest = Config?.Labels?.[runnerLabel]
  let problem: string | undefined
  if (digest === undefined || digest === '') problem = `image ${image} has no runner of durable-ptc in it`
  else if (digest !== source.digest) problem = `image ${image} holds another version of the runner`
  else if (volumes.length > 0)
    problem = `image ${image} declares volumes (${volumes.join(', ')}), writable past the limits`
  return { id: Id, problem, remedy }
}

/**
 * True when the project's own image was built from an older image of its base's name than the daemon has now. A base that is
 * not on the daemon, or that nobody named, changes nothing.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function isOfOldBase(
  engine: DockerEngine,
  source: ImageSource,
  image: string,
  signal?: AbortSignal,
): Promise<boolean> {
  if (source.base === undefined || image !== source.tag) return false
  const [base, built] = await Promise.all([readImage(engine, source.base, signal), readImage(engine, image, signal)])
  const layers = built?.RootFS?.Layers
  const below = base?.RootFS?.Layers
  if (!layers || !below) return false
  return below.some((layer, place) => layers[place] !== layer)
}

/** Undefined when there is no such image. */
async function readImage(
  engine: DockerEngine,
  image: string,
  signal: AbortSignal | undefined,
): Promise<z.infer<typeof imageAnswer> | undefined> {
  const answer = await engine.call({ doing: `inspect image ${image}`, signal, fine: [404] }, (_docker, abortSignal) =>
    engine.dial({ path: `/images/${encodeURI(image)}/json`, method: 'GET', statusCodes, abortSignal }),
  )
  return answer === undefined ? undefined : imageAnswer.parse(answer)
}

/** The id of a usable image. @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE */
export async function resolveImage(
  engine: DockerEngine,
  source: ImageSource,
  image: string,
  signal?: AbortSignal,
): Promise<string> {
  const { id, problem, remedy } = await inspectImage(engine, source, image, signal)
  if (id !== undefined && problem === undefined) return id
  throw new PtcError('SANDBOX_IMAGE_MISSING', problem ?? `there is no image ${image}`, { hint: remedy })
}

function remedyFor(source: ImageSource, image: string): string {
  if (image !== source.tag) return `Build ${image} from ${source.tag} (FROM ${source.tag}) and declare no VOLUME.`
  const base = source.base === undefined ? '' : ` --build-arg BASE=${source.base}`
  const options = `-t ${image} --build-arg RUNNER_DIGEST=${source.digest}${base} -f ${source.directory}${dockerfile}`
  return `\`ptc dev\` builds it at its start; by hand: docker build ${options} ${source.directory}`
}
