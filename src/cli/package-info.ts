import { readFileSync } from 'node:fs'

interface PackageInfo {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  /** Versions of Node that it runs on. */
  readonly engines: { readonly node: string }
}

/** This package's own package.json: the same place from `src` and from `dist`. */
export function packageInfo(): PackageInfo {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as PackageInfo
}
