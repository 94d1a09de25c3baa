import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { roles } from '../../../src/common/names.js'
import { deployTools, parseYaml, runTool, validateKubernetes } from '../../support/deploy/tools.js'
import { temporaryFolder } from '../../support/folders.js'
import { buildWithGo } from '../../support/setup/build-with-go.js'
import { optionalDependency } from '../../support/setup/optional-dependency.js'

const [tools, kustomize] = await Promise.all([
  deployTools,
  optionalDependency('PTC_TEST_DEPLOY', 'kustomize', () =>
    buildWithGo({
      name: 'kustomize',
      version: '5.8.1',
      package: 'sigs.k8s.io/kustomize/kustomize/v5',
      buildTime: 'about a minute',
    }),
  ),
])

interface Resource {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly containers: readonly {
          readonly image: string
          readonly envFrom: readonly { readonly configMapRef?: { readonly name: string } }[]
        }[]
      }
    }
  }
}

it.skipIf(!tools || !kustomize)('the kustomization builds a worker of each role with its environment', async () => {
  if (!tools || !kustomize) return
  const yaml = await runTool(kustomize, ['build', 'deploy/kubernetes'])
  const file = join(await temporaryFolder(), 'all.yaml')
  writeFileSync(file, yaml)
  await validateKubernetes(tools, [file])
  const resources = (await parseYaml(yaml)) as readonly Resource[]
  const environment = resources.find(({ kind }) => kind === 'ConfigMap')?.metadata.name
  expect(environment).toMatch(/^worker-environment-\w+$/)
  const workers = resources.filter(({ spec }) => spec?.template)
  expect(workers.map(({ metadata }) => metadata.name).toSorted()).toEqual(
    roles.map((role) => `worker-${role}`).toSorted(),
  )
  for (const { spec } of workers) {
    const [container] = spec?.template?.spec.containers ?? []
    expect(container?.image).toBe('durable-ptc-worker:latest')
    expect(container?.envFrom).toContainEqual({ configMapRef: { name: environment } })
  }
  const outside = resources.filter(({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== 'durable-ptc')
  expect(outside).toEqual([])
})
