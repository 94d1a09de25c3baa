import { readFileSync } from 'node:fs'

interface PackageInfo {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  /** Versions of Node that it supports. */
  readonly engines: { readonly node: string }
}

/** The package.json of this package: `src` and `dist` have the same relative path to it. */
export function packageInfo(): PackageInfo {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as PackageInfo
}
