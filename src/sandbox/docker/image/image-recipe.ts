import { createHash } from 'node:crypto'
import type { ImageChoice, PackageKind } from '../../../common/run/sandbox-image.js'
import { hasPackages, sortedPackages } from '../../image-option.js'
import type { ImageSource } from './image-source.js'
import { minimalImage, namedImages } from './named-images.js'

/** How an image comes into being. */
export type ImageRecipe =
  /** Built from the runners of this installation. */
  | { readonly kind: 'minimal'; readonly name: string }
  /** Built from another image, and packages on top of it. */
  | {
      readonly kind: 'packages'
      readonly name: string
      /** For people: `data`, or `packages` for those of a configuration. */
      readonly title: string
      readonly base: ImageRecipe
      readonly packages: Readonly<Record<PackageKind, readonly string[]>>
    }
  /** Built by somebody else. */
  | { readonly kind: 'foreign'; readonly name: string }

/**
 * Returns the recipe of a chosen image. The name of an image that is built here is derived from the runners, the base and
 * the packages: another one never has its name.
 */
export function imageRecipe(source: ImageSource, { image = minimalImage, packages }: ImageChoice): ImageRecipe {
  const minimal = { kind: 'minimal', name: source.tag } as const
  const named = namedImages.get(image)
  const base = named
    ? withPackages(source, minimal, image, named)
    : image === minimalImage || image === source.tag
      ? minimal
      : ({ kind: 'foreign', name: image } as const)
  return hasPackages(packages) ? withPackages(source, base, 'packages', packages) : base
}

function withPackages(
  source: ImageSource,
  base: ImageRecipe,
  title: string,
  lists: ImageChoice['packages'],
): ImageRecipe {
  const packages = sortedPackages(lists)
  const content = createHash('sha256').update(JSON.stringify([base.name, packages]))
  const name = `${source.tag}-${title}-${content.digest('hex').slice(0, 8)}`
  return { kind: 'packages', name, title, base, packages }
}
