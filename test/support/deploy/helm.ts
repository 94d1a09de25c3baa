import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../folders.js'
import { buildWithGo } from '../setup/build-with-go.js'
import { optionalDependency } from '../setup/optional-dependency.js'
import { parseYaml, root, runTool } from './tools.js'

/** The path of helm, which is built once with Go; undefined when the tests that need it must be skipped. */
export const helm = optionalDependency('PTC_TEST_DEPLOY', 'helm', () =>
  buildWithGo({ name: 'helm', version: '3.22.0', package: 'helm.sh/helm/v3/cmd/helm', buildTime: 'about 4 minutes' }),
)

export const chartFolder = join(root, 'deploy/helm/durable-ptc')

/** Built with Go alone, helm believes in a cluster of version 1.20. */
const version = ['--kube-version', '1.34.0'] as const

/** The values that have no default. */
export const requiredValues = {
  image: { repository: 'registry.example.com/expenses', tag: '7' },
  temporal: { address: 'temporal-frontend.temporal.svc:7233' },
  workers: { sandbox: { kubernetes: { image: 'registry.example.com/durable-ptc-sandbox:1' } } },
  serve: { tokenSecret: { name: 'serve' } },
} as const

/** An object of Kubernetes. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

export type Labels = Readonly<Record<string, string>>

/** A file of values in the form of each element, of which later ones replace earlier ones. */
export async function valueArguments(...files: readonly object[]): Promise<readonly string[]> {
  const folder = await temporaryFolder()
  return files.flatMap((values, number) => {
    const path = join(folder, `values-${number}.yaml`)
    writeFileSync(path, JSON.stringify(values))
    return ['--values', path]
  })
}

/**
 * The objects of a release `ptc` in the namespace `agents`.
 *
 * @throws Error with the message of helm when it refuses the values
 */
export async function renderChart(program: string, ...files: readonly object[]): Promise<readonly Manifest[]> {
  const values = await valueArguments(...files)
  const yaml = await runTool(program, ['template', 'ptc', chartFolder, '--namespace', 'agents', ...version, ...values])
  const documents = (await parseYaml(yaml)) as readonly (Manifest | null)[]
  return documents.filter((document) => document !== null)
}
