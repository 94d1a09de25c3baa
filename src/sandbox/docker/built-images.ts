import { z } from 'zod'
import { packageKinds } from '../../common/run/sandbox-image.js'
import { listContainers } from './container/list-containers.js'
import type { DockerEngine } from './engine/docker-engine.js'
import { imageLabels, imageRepository } from './image/image-source.js'
import { minimalImage } from './image/named-images.js'

/** An image that durable-ptc has built. */
export interface ListedImage {
  readonly id: string
  readonly name: string
  /** `minimal`, `data`, `polyglot`, or `packages` for those of a configuration. */
  readonly title: string
  /** The image below its packages. Undefined: none. */
  readonly base?: string
  /** The names of its own packages. */
  readonly packages: readonly string[]
  /** Bytes of all its layers. Images share layers. */
  readonly bytes: number
  readonly createdAt: Date
  /** It has the runners of this installation. */
  readonly isCurrent: boolean
  /** Containers that use it, running or not. */
  readonly containers: number
}

const summaries = z.array(
  z.object({
    Id: z.string(),
    RepoTags: z.array(z.string()).nullish(),
    Labels: z.record(z.string(), z.string()).nullish(),
    Size: z.number(),
    Created: z.number(),
  }),
)

/**
 * Lists the images of the repository of durable-ptc that have its label. Images that people have built from one inherit
 * the label, and are in other repositories.
 *
 * @param digest of the runners of this installation
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function listImages(engine: DockerEngine, digest: string): Promise<readonly ListedImage[]> {
  const [found, containers] = await Promise.all([
    engine.call({ action: 'list the images' }, (docker, abortSignal) =>
      docker.listImages({ filters: JSON.stringify({ label: [imageLabels.runner] }), abortSignal }),
    ),
    listContainers(engine, {}),
  ])
  const images = summaries.parse(found ?? []).flatMap(({ Id, RepoTags, Labels, Size, Created }) => {
    const labels = Labels ?? {}
    return (RepoTags ?? [])
      .filter((name) => name.startsWith(`${imageRepository}:`))
      .map((name) => ({
        id: Id,
        name,
        title: labels[imageLabels.title] ?? minimalImage,
        ...(labels[imageLabels.base] !== undefined && { base: labels[imageLabels.base] }),
        packages: packagesIn(labels[imageLabels.packages]),
        bytes: Size,
        createdAt: new Date(Created * 1_000),
        isCurrent: labels[imageLabels.runner] === digest,
        containers: containers.filter(({ image }) => image === Id).length,
      }))
  })
  return images.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
}

/** Images that no worker of this version uses, and no container. */
export function prunableImages(images: readonly ListedImage[]): readonly ListedImage[] {
  return images.filter(({ isCurrent, containers }) => !isCurrent && containers === 0)
}

/**
 * Removes an image by its name. Layers that other images have stay.
 *
 * @returns false when a container uses it by now, or when it is gone
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function removeImage(engine: DockerEngine, { name }: Pick<ListedImage, 'name'>): Promise<boolean> {
  const options = { action: `remove image ${name}`, timeoutMs: removeTimeoutMs, ignoredStatuses: [404, 409] }
  const removed = await engine.call(options, async (docker, abortSignal) => {
    await docker.getImage(name).remove({ abortSignal })
    return true
  })
  return removed ?? false
}

/** Removing an image removes gigabytes of files. */
const removeTimeoutMs = 120_000

const lists = z.record(z.enum(packageKinds), z.array(z.string()))

function packagesIn(label: string | undefined): readonly string[] {
  if (label === undefined) return []
  try {
    return Object.values(lists.parse(JSON.parse(label))).flat()
  } catch {
    return []
  }
}
