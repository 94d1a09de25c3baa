import { z } from 'zod'
import { PtcError } from '../../../common/errors.js'
import { readVersion } from '../engine/daemon-info.js'
import type { DockerEngine } from '../engine/docker-engine.js'
import { buildImage, type BuildImageOptions } from './build-image.js'
import type { ImageRecipe } from './image-recipe.js'
import { dockerfile, imageLabels, type ImageSource } from './image-source.js'

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
  Architecture: z.string().optional(),
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
 * An image of sandboxes: built from the runner of this installation, with further packages or without, or built by
 * somebody on top of such an image.
 */
export class SandboxImage {
  readonly #engine: DockerEngine
  readonly #source: ImageSource
  readonly #recipe: ImageRecipe

  constructor(engine: DockerEngine, source: ImageSource, recipe: ImageRecipe) {
    this.#engine = engine
    this.#source = source
    this.#recipe = recipe
  }

  get name(): string {
    return this.#recipe.name
  }

  /** True for an image that {@link ensure} builds. */
  get isBuiltIn(): boolean {
    return this.#recipe.kind !== 'foreign'
  }

  /** Reads whether sandboxes can use the image. @throws PtcError SANDBOX_UNAVAILABLE */
  async inspect(signal?: AbortSignal): Promise<ImageInspection> {
    const response = await this.#read(this.name, signal)
    if (response === undefined) return this.#unusable(`there is no image ${this.name}`)
    const problem = await this.#problemOf(response, signal)
    return problem === undefined ? { usable: true, id: response.Id } : this.#unusable(problem)
  }

  /**
   * Returns the id of the image.
   *
   * @param pinned the id of the image that an earlier sandbox of the session had. It is preferred while it is there, and
   *   has the runner of this installation.
   * @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE
   */
  async resolve(signal?: AbortSignal, pinned?: string): Promise<string> {
    if (pinned !== undefined) {
      const response = await this.#read(pinned, signal)
      if (response !== undefined && (await this.#problemOf(response, signal)) === undefined) return response.Id
    }
    const inspection = await this.inspect(signal)
    if (inspection.usable) return inspection.id
    throw new PtcError('SANDBOX_IMAGE_MISSING', inspection.problem, { hint: inspection.remedy })
  }

  /**
   * Builds the image when it is missing, or when the image below it was built again; first the image below it.
   *
   * @returns whether it was built
   * @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_IMAGE_BUILD_FAILED, SANDBOX_UNAVAILABLE
   */
  async ensure(options: BuildImageOptions = {}): Promise<boolean> {
    const recipe = this.#recipe
    if (recipe.kind === 'packages') await new SandboxImage(this.#engine, this.#source, recipe.base).ensure(options)
    const inspection = await this.inspect(options.signal)
    if (inspection.usable && !(await this.#isBaseOutdated(options.signal))) return false
    if (recipe.kind === 'foreign') {
      if (inspection.usable) return false
      throw new PtcError('SANDBOX_IMAGE_MISSING', inspection.problem, { hint: inspection.remedy })
    }
    await buildImage(this.#engine, this.#source, recipe, options)
    await this.resolve(options.signal)
    return true
  }

  /**
   * True when the image was built from an older version of its base than the daemon has now. False without a known base,
   * or when the daemon does not have it.
   */
  async #isBaseOutdated(signal?: AbortSignal): Promise<boolean> {
    const recipe = this.#recipe
    const base =
      recipe.kind === 'packages' ? recipe.base.name : recipe.kind === 'minimal' ? this.#source.base : undefined
    if (base === undefined) return false
    const [below, built] = await Promise.all([this.#read(base, signal), this.#read(this.name, signal)])
    const layers = built?.RootFS?.Layers
    const baseLayers = below?.RootFS?.Layers
    if (!layers || !baseLayers) return false
    return baseLayers.some((layer, index) => layers[index] !== layer)
  }

  #unusable(problem: string): ImageInspection {
    return { usable: false, problem, remedy: this.#remedy() }
  }

  async #problemOf({ Config, Architecture }: ImageResponse, signal?: AbortSignal): Promise<string | undefined> {
    const volumes = Object.keys(Config?.Volumes ?? {})
    const digest = Config?.Labels?.[imageLabels.runner]
    if (digest === undefined || digest === '') return `image ${this.name} does not contain the runner of durable-ptc`
    if (digest !== this.#source.digest) return `image ${this.name} contains another version of the runner`
    if (volumes.length > 0)
      return `image ${this.name} declares volumes (${volumes.join(', ')}), which are writable beyond the limits`
    const { Arch } = await readVersion(this.#engine, signal)
    if (Architecture === undefined || Arch === undefined || Architecture === Arch) return undefined
    return `image ${this.name} is for processors of kind ${Architecture}, and the daemon runs on ${Arch}`
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
    if (this.#recipe.kind === 'foreign')
      return `Build ${this.name} from ${tag} (FROM ${tag}) on a machine of this kind, and declare no VOLUME.`
    if (this.#recipe.kind === 'packages') return '`ptc image build` and the start of a worker build it.'
    const baseArgument = base === undefined ? '' : ` --build-arg BASE=${base}`
    const options = `-t ${tag} --build-arg RUNNER_DIGEST=${digest}${baseArgument} -f ${directory}${dockerfile}`
    return `\`ptc dev\` builds it at its start; by hand: docker build ${options} ${directory}`
  }
}
