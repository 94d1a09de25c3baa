import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { roles } from '../../../src/common/names.js'
import { isCustom, ofKind, podsOf, type PodSpec, secretsOf, variablesOf } from '../../support/deploy/chart-objects.js'
import { dockerHosts, everything, nothingOptional } from '../../support/deploy/chart-values.js'
import {
  chartFolder,
  helm,
  type Manifest,
  renderChart,
  requiredValues,
  valueArguments,
} from '../../support/deploy/helm.js'
import { deployTools, parseYaml, root, runTool, validateKubernetes } from '../../support/deploy/tools.js'
import { temporaryFolder } from '../../support/folders.js'

const [tools, program] = await Promise.all([deployTools, helm])

describe.skipIf(!tools || !program)('the pods of the Helm chart', () => {
  const render = (...files: readonly object[]) => renderChart(program ?? '', requiredValues, ...files)

  it('helm lints the chart without a warning', async () => {
    await runTool(program ?? '', ['lint', '--strict', chartFolder, ...(await valueArguments(requiredValues))])
    await runTool(program ?? '', [
      'lint',
      '--strict',
      chartFolder,
      ...(await valueArguments(requiredValues, everything)),
    ])
  })

  it.each([
    ['the required values alone', {}],
    ['everything', everything],
    ['sandboxes on Docker hosts', dockerHosts],
    ['workers alone', nothingOptional],
  ])('Kubernetes accepts the objects of the chart with %s', async (_, values) => {
    const manifests = await render(values)
    const file = join(await temporaryFolder(), 'all.yaml')
    const documents = manifests.filter((each) => !isCustom(each)).map((each) => JSON.stringify(each))
    writeFileSync(file, documents.join('\n---\n'))
    if (tools) await validateKubernetes(tools, [file])
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`)
    expect(names).toHaveLength(new Set(names).size)
    const outside = manifests.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/instance'] !== 'ptc')
    expect(outside).toEqual([])
  })

  it('the chart has a worker of each role, which has only the secrets of its role', async () => {
    const pods = podsOf(await render(everything))
    for (const role of roles) {
      const pod = pods.get(`ptc-durable-ptc-worker-${role}`)
      expect(pod?.spec.containers[0]?.args).toEqual(['worker', '--roles', role])
      expect(pod?.spec.containers[0]?.image).toBe('registry.example.com/expenses:7')
    }
    const having = (secret: string) =>
      [...pods].flatMap(([name, pod]) =>
        secretsOf(pod).includes(secret) ? [name.replace('ptc-durable-ptc-', '')] : [],
      )
    expect(having('model-keys')).toEqual(['worker-model'])
    expect(having('tool-credentials')).toEqual(['worker-tools'])
    expect(having('value-store')).toHaveLength(pods.size)
    expect(having('temporal-cloud')).toHaveLength(pods.size)
    const withLedger = [...pods].filter(([, pod]) => 'LEDGER_URL' in variablesOf(pod))
    expect(withLedger.map(([name]) => name)).toEqual(['ptc-durable-ptc-worker-tools'])
  })

  it('only the workers of sandboxes have a token of Kubernetes, and no pod has a right on its node', async () => {
    const pods = podsOf(await render(everything))
    const withToken = [...pods].filter(([, { spec }]) => spec.automountServiceAccountToken)
    expect(withToken.map(([name]) => name)).toEqual(['ptc-durable-ptc-worker-sandbox'])
    expect(pods.size).toBe(7)
    for (const { spec } of pods.values()) {
      expect(spec.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      expect(spec.containers.map(({ securityContext }) => securityContext)).toEqual([
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      ])
      expect(JSON.stringify(spec)).not.toMatch(/hostPath|hostNetwork|hostPID|privileged/)
    }
  })

  it('with Docker hosts, a worker on each labelled node has the socket, and no right in the cluster', async () => {
    const manifests = await render(dockerHosts)
    const daemons = ofKind(manifests, 'DaemonSet')
    expect(daemons.map(({ metadata }) => metadata.name)).toEqual(['ptc-durable-ptc-worker-sandbox'])
    const spec = podsOf(daemons).get('ptc-durable-ptc-worker-sandbox')?.spec
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      nodeSelector: { 'durable-ptc/sandboxes': 'true' },
      tolerations: [{ key: 'durable-ptc/sandboxes', operator: 'Exists', effect: 'NoSchedule' }],
      securityContext: { runAsNonRoot: true, supplementalGroups: [999] },
    })
    expect(spec?.volumes).toContainEqual({ name: 'docker', hostPath: { path: '/var/run/docker.sock', type: 'Socket' } })
    expect(variablesOf({ metadata: { labels: {} }, spec: spec as PodSpec })).toMatchObject({
      PTC_HOST_ID: { fieldRef: { fieldPath: 'spec.nodeName' } },
    })
    const having = [...podsOf(manifests)].filter(([, pod]) => JSON.stringify(pod).includes('docker.sock'))
    expect(having).toHaveLength(1)
    expect(manifests.filter(({ kind }) => /^(Role|Namespace|ResourceQuota)/.test(kind))).toEqual([])
  })

  it('the namespace of sandboxes is that of deploy/sandbox-pods.yaml', async () => {
    const manifests = await render()
    const files = (await parseYaml(readFileSync(join(root, 'deploy/sandbox-pods.yaml'), 'utf8'))) as readonly Manifest[]
    const essence = ({ kind, metadata, spec, rules }: Manifest) => ({
      kind,
      spec,
      rules,
      ...(kind === 'Namespace' && {
        name: metadata.name,
        enforced: metadata.labels?.['pod-security.kubernetes.io/enforce'],
      }),
    })
    const inSandboxes = (each: Manifest) =>
      each.kind === 'Namespace' || each.metadata.namespace === 'durable-ptc-sandboxes'
    const byKind = (one: Manifest, other: Manifest) => one.kind.localeCompare(other.kind)
    const expected = files.filter(inSandboxes).toSorted(byKind)
    expect(expected).toHaveLength(5)
    expect(manifests.filter(inSandboxes).toSorted(byKind).map(essence)).toEqual(expected.map(essence))
    const [binding] = ofKind(manifests, 'RoleBinding')
    const account = podsOf(manifests).get('ptc-durable-ptc-worker-sandbox')?.spec.serviceAccountName
    expect(binding).toMatchObject({ subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'agents' }] })
    expect(
      ofKind(await render({ workers: { sandbox: { kubernetes: { createNamespace: false } } } }), 'Namespace'),
    ).toEqual([])
  })

  it('the pods have the variables that the configuration of the image reads', async () => {
    const source = readFileSync(join(root, 'examples/fleet/ptc.config.ts'), 'utf8')
    for (const pod of podsOf(await render(everything)).values()) {
      expect(variablesOf(pod)).toMatchObject({
        TEMPORAL_ADDRESS: 'temporal-frontend.temporal.svc:7233',
        TEMPORAL_NAMESPACE: 'default',
        TEMPORAL_TLS: 'true',
        TEMPORAL_TLS_CLIENT_CERT_PATH: '/etc/temporal-tls/tls.crt',
        TEMPORAL_TLS_CLIENT_KEY_PATH: '/etc/temporal-tls/tls.key',
        TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/etc/temporal-tls/ca.crt',
        TASK_QUEUE: 'expenses',
        SANDBOX_NAMESPACE: 'durable-ptc-sandboxes',
        SANDBOX_IMAGE: 'registry.example.com/durable-ptc-sandbox:1',
        SANDBOX_RUNTIME_CLASS: 'gvisor',
      })
      const read = Object.keys(variablesOf(pod)).filter((name) => /^(SANDBOX|TASK|S3)_/.test(name))
      expect(read.filter((name) => !source.includes(name))).toEqual([])
    }
  })
})
