import { z } from 'zod'
import { type ImageChoice, type PackageKind, packageKinds } from '../common/run/sandbox-image.js'

/*
 * The names reach the package managers as arguments, never through a shell. So the patterns have another purpose: a name
 * names a package of the configured registry, and no option, path, URL or archive, and no removal (`vim-` of apt).
 */
const patterns: { readonly [Kind in PackageKind]: RegExp } = {
  apt: /^[a-z0-9][a-z0-9+.-]*[a-z0-9+](=[A-Za-z0-9][A-Za-z0-9.+:~-]*)?$/,
  pip: /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9,._-]+\])?((===?|[~<>!]=|[<>])[A-Za-z0-9][A-Za-z0-9.*+!-]*(,([~<>!=]=|[<>])[A-Za-z0-9][A-Za-z0-9.*+!-]*)*)?$/,
  npm: /^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*(@[A-Za-z0-9^~<>=*][A-Za-z0-9.^~<>=*+-]*)?$/,
}

const examples = { apt: 'ripgrep', pip: 'polars==1.9.0', npm: 'd3@7' } as const satisfies Record<PackageKind, string>

/** More than a configuration names. A longer list belongs into a Dockerfile. */
const maxPackages = 200
const maxNameCharacters = 200

const namesOf = (kind: PackageKind) =>
  z
    .array(
      z
        .string()
        .max(maxNameCharacters)
        .regex(patterns[kind], `must be the name of a package of ${kind}, such as ${examples[kind]}`),
    )
    .max(maxPackages)
    .readonly()

/** A reference of Docker: `registry:5000/team/image:tag`, perhaps with a digest. */
const imageName = /^[a-z0-9]([a-z0-9._:/-]*[a-z0-9])?(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/

/** The members of an option that chooses an image. */
export const imageFields = {
  image: z.string().max(300).regex(imageName, 'must be the name of an image').exactOptional(),
  packages: z
    .strictObject({
      apt: namesOf('apt').exactOptional(),
      pip: namesOf('pip').exactOptional(),
      npm: namesOf('npm').exactOptional(),
    } satisfies { readonly [Kind in PackageKind]: z.ZodType })
    .exactOptional(),
} satisfies { readonly [Key in keyof Required<ImageChoice>]: z.ZodType }

/** The same names in any order, and twice, choose the same image. */
export function sortedPackages(packages: ImageChoice['packages'] = {}): Readonly<Record<PackageKind, string[]>> {
  const sorted = (kind: PackageKind) => [...new Set(packages[kind] ?? [])].sort()
  return { apt: sorted('apt'), pip: sorted('pip'), npm: sorted('npm') }
}

export function hasPackages(packages: ImageChoice['packages']): boolean {
  return packageKinds.some((kind) => (packages?.[kind]?.length ?? 0) > 0)
}
