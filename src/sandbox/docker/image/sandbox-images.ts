import type { ImageChoice } from '../../../common/run/sandbox-image.js'
import type { SandboxSpec } from '../../backend.js'
import type { DockerEngine } from '../engine/docker-engine.js'
import { imageRecipe } from './image-recipe.js'
import type { ImageSource } from './image-source.js'
import { SandboxImage } from './sandbox-image.js'

/** The images of a backend: one for sandboxes that choose none, and those that sandboxes choose. */
export class SandboxImages {
  readonly #engine: DockerEngine
  readonly #source: ImageSource
  readonly #configured: ImageChoice
  // A name is resolved once, so that all sandboxes of a worker have the same image even if the tag is moved.
  readonly #ids = new Map<string, Promise<string>>()

  constructor(engine: DockerEngine, source: ImageSource, configured: ImageChoice) {
    this.#engine = engine
    this.#source = source
    this.#configured = configured
  }

  /** @param choice default: as configured */
  of(choice: ImageChoice = this.#configured): SandboxImage {
    return new SandboxImage(this.#engine, this.#source, imageRecipe(this.#source, choice))
  }

  /**
   * Returns the id of the image of a sandbox.
   *
   * @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE
   */
  async resolve({ image: { choice, pinned } = {} }: Pick<SandboxSpec, 'image'>): Promise<string> {
    const image = this.of(choice)
    if (pinned !== undefined && pinned !== (await this.#ids.get(image.name)?.catch(() => undefined)))
      return image.resolve(undefined, pinned)
    const known = this.#ids.get(image.name)
    if (known) return known
    const resolved = image.resolve()
    this.#ids.set(image.name, resolved)
    resolved.catch(() => this.#ids.get(image.name) === resolved && this.#ids.delete(image.name))
    return resolved
  }

  /** Makes the next sandboxes resolve their images again. */
  invalidate(): void {
    this.#ids.clear()
  }
}
