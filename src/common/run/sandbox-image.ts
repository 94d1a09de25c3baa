/*
 * The image of a sandbox: which one a run has, and what programs find in it.
 */

/** `apt`: packages of Debian. `pip`: of Python. `npm`: of Node.js. */
export const packageKinds = ['apt', 'pip', 'npm'] as const

export type PackageKind = (typeof packageKinds)[number]

/** Names of packages, with versions where the package manager accepts them: `pandas==2.2.3`. */
export type PackageLists = { readonly [Kind in PackageKind]?: readonly string[] }

export interface ImageChoice {
  /** `minimal`, `data`, `polyglot`, or the name of an image on the daemon. Undefined: `minimal`. */
  readonly image?: string
  /** Packages in addition to those of the image. Undefined: none. */
  readonly packages?: PackageLists
}

/** What programs find in a sandbox, as its prompt says it. */
export type SandboxContents = {
  /** Programs with their versions, such as `Python 3.11.2`. */
  readonly programs: readonly string[]
  /** Names of the languages that the sandbox executes. */
  readonly languages: readonly string[]
  /** The first packages of each kind, such as `numpy 1.24.2`, and the number of further ones. */
  readonly packages: { readonly [Kind in PackageKind]: PackageNames }
}

export type PackageNames = {
  readonly names: readonly string[]
  readonly more: number
}
