import { z } from 'zod'
import { PtcError } from '../../../common/errors.js'
import type { DockerEngine } from '../engine/docker-engine.js'
import { buildImage, type BuildImageOptions } from './build-image.js'
import { dockerfile, runnerDigestLabel, type ImageSource } from './image-source.js'

type ImageInspection =
  | {
      readonly usable: true
      /** The immutable id of the image. */
      readonly id: string
    }
  | { readonly usable: false; readonly problem: string; readonly remedy: string }

const statusCodes = { 200: true, 404: 'no such image', 500: 'server error' }

const imageResponse = z.object({
  Id: z.string(),
  Config: z
    .object({
      Labels: z.record(z.string(), z.string()).nullish(),
      Volumes: z.record(z.string(), z.unknown()).nullish(),
    })
    .nullish(),
  RootFS: z.object({ Layers: z.array(z.string()).nullish() }).nullish(),
})

type ImageResponse = z.infer<typeof imageResponse>

/**
 * The image of all sandboxes of a backend: built from the runner of this installation, or built by a user on top of
 * that image.
 */
export class SandboxImage {
  readonly name: string
  readonly #engine: DockerEngine
  readonly #source: ImageSource

  /** @param name default: the tag of `source` */
  constructor(engine: DockerEngine, source: ImageSource, name: string = source.tag) {
    this.name = name
    this.#engine = engine
    this.#source = source
  }

  /** True for the image that {@link build} makes. */
  get isBuiltIn(): boolean {
    return this.name === this.#source.tag
  }

  /** Reads whether sandboxes can use the image. @throws PtcError SANDBOX_UNAVAILABLE */
  async inspect(signal?: AbortSignal): Promise<ImageInspection> {
    const response = await this.#read(this.name, signal)
    if (response === undefined) return this.#unusable(`there is no image ${this.name}`)
    const problem = this.#problemOf(response)
    return problem === undefined ? { usable: true, id: response.Id } : this.#unusable(problem)
  }

  /** Returns the id of the image. @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE */
  async resolve(signal?: AbortSignal): Promise<string> {
    const inspection = await this.inspect(signal)
    if (inspection.usable) return inspection.id
    throw new PtcError('SANDBOX_IMAGE_MISSING', inspection.problem, { hint: inspection.remedy })
  }

  /**
   * True when the built-in image was built from an older version of its configured base image than the daemon has now.
   * False without a configured base image, or when the daemon does not have it.
   *
   * @throws PtcError SANDBOX_UNAVAILABLE
   */
  async isBaseOutdated(signal?: AbortSignal): Promise<boolean> {
    if (this.#source.base === undefined || !this.isBuiltIn) return false
    const [base, built] = await Promise.all([this.#read(this.#source.base, signal), this.#read(this.name, signal)])
    const layers = built?.RootFS?.Layers
    const baseLayers = base?.RootFS?.Layers
    if (!layers || !baseLayers) return false
    return baseLayers.some((layer, index) => layers[index] !== layer)
  }

  /** Builds the built-in image. @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE */
  async build(options: BuildImageOptions): Promise<void> {
    await buildImage(this.#engine, this.#source, options)
    await this.resolve(options.signal)
  }

  #unusable(problem: string): ImageInspection {
    return { usable: false, problem, remedy: this.#remedy() }
  }

  #problemOf({ Config }: ImageResponse): string | undefined {
    const volumes = Object.keys(Config?.Volumes ?? {})
    const digest = Config?.Labels?.[runnerDigestLabel]
    if (digest === undefined || digest === '') return `image ${this.name} does not contain the runner of durable-ptc`
    if (digest !== this.#source.digest) return `image ${this.name} contains another version of the runner`
    if (volumes.length === 0) return undefined
    return `image ${this.name} declares volumes (${volumes.join(', ')}), which are writable beyond the limits`
  }

  /** Returns undefined when there is no such image. */
  async #read(image: string, signal: AbortSignal | undefined): Promise<ImageResponse | undefined> {
    const response = await this.#engine.call(
      { action: `inspect image ${image}`, signal, ignoredStatuses: [404] },
      (_docker, abortSignal) =>
        this.#engine.dial({ path: `/images/${encodeURI(image)}/json`, method: 'GET', statusCodes, abortSignal }),
    )
    return response === undefined ? undefined : imageResponse.parse(response)
  }

  #remedy(): string {
    const { base, digest, directory, tag } = this.#source
    if (!this.isBuiltIn) return `Build ${this.name} from ${tag} (FROM ${tag}) and declare no VOLUME.`
    const baseArgument = base === undefined ? '' : ` --build-arg BASE=${base}`
    const options = `-t ${tag} --build-arg RUNNER_DIGEST=${digest}${baseArgument} -f ${directory}${dockerfile}`
    return `\`ptc dev\` builds it at its start; by hand: docker build ${options} ${directory}`
  }
}
