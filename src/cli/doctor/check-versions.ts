import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isAtLeast } from '../../common/versions.js'
import { packageInfo } from '../../platform/package-info.js'
import { type Check, error, ok } from './check.js'

const manifest = packageInfo()

/** Packages whose versions belong in a bug report. */
const reportedPackages = ['@temporalio/worker', '@temporalio/client', '@anthropic-ai/sdk', 'pyodide']

export function checkNode(version = process.versions.node): Check {
  const wanted = manifest.engines.node.replace('>=', '')
  if (isAtLeast(version, wanted)) return ok('Node', version)
  const remedy = `Install Node ${wanted} or newer from https://nodejs.org/.`
  return error('Node', `${version} is too old, ${wanted} is needed`, remedy)
}

export function checkPackages(): Check {
  const found = reportedPackages.map((name) => ({ name, version: installedVersion(name) }))
  const missing = found.filter(({ version }) => version === undefined).map(({ name }) => name)
  if (missing.length > 0) {
    const remedy = 'Install the dependencies again (npm ci), without `--omit=optional`.'
    return error('Packages', `not installed: ${missing.join(', ')}`, remedy)
  }
  const versions = [`durable-ptc ${manifest.version}`, ...found.map(({ name, version }) => `${name} ${version}`)]
  // Packages of Temporal's SDK share internal contracts and must have the same version.
  const temporal = new Set(temporalPackages().map(installedVersion))
  if (temporal.size <= 1) return ok('Packages', versions.join(', '))
  const remedy = 'Install one version of all @temporalio packages (npm dedupe, or an override).'
  return error('Packages', `several versions of @temporalio: ${[...temporal].join(', ')}`, remedy)
}

function temporalPackages(): readonly string[] {
  return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).filter((name) =>
    name.startsWith('@temporalio/'),
  )
}

function installedVersion(name: string): string | undefined {
  const require = createRequire(import.meta.url)
  // `require.resolve` of package.json fails when `exports` hides the file.
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return (JSON.parse(readFileSync(`${folder}/${name}/package.json`, 'utf8')) as { readonly version: string })
        .version
    } catch {
      // Not in this node_modules; a parent folder may have it.
    }
  }
  return undefined
}
