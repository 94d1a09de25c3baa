import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { roleQueue, roles, sandboxQueue } from '../../../src/common/names.js'
import {
  chartFolder,
  helm,
  type Labels,
  type Manifest,
  renderChart,
  requiredValues,
  valueArguments,
} from '../../support/deploy/helm.js'
import { deployTools, parseYaml, root, runTool, validateKubernetes } from '../../support/deploy/tools.js'
import { temporaryFolder } from '../../support/folders.js'

interface PodSpec {
  readonly automountServiceAccountToken: boolean
  readonly serviceAccountName: string
  readonly securityContext: unknown
  readonly nodeSelector?: Labels
  readonly volumes: readonly object[]
  readonly containers: readonly {
    readonly image: string
    readonly args: readonly string[]
    readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[]
    readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[]
    readonly securityContext: unknown
  }[]
}

interface PodTemplate {
  readonly metadata: { readonly labels: Labels }
  readonly spec: PodSpec
}

interface Policy {
  readonly podSelector: { readonly matchLabels?: Labels }
  readonly policyTypes: readonly string[]
  readonly ingress?: readonly { readonly from: readonly object[]; readonly ports: readonly { port: string }[] }[]
}

const [tools, program] = await Promise.all([deployTools, helm])

const workerNames = roles.map((role) => `ptc-durable-ptc-worker-${role}`)

/** Values that turn on everything. */
const everything = {
  imagePullSecrets: ['registry'],
  temporal: { secret: 'temporal-cloud', tls: { secret: 'temporal-tls', serverCa: true } },
  taskQueue: 'expenses',
  secrets: ['value-store'],
  workers: {
    workflow: { autoscaling: { enabled: true, minReplicas: 3, backlog: 20 } },
    model: { secrets: ['model-keys'], autoscaling: { enabled: true } },
    tools: {
      secrets: ['tool-credentials'],
      environment: { LEDGER_URL: 'https://ledger' },
      autoscaling: { enabled: true },
    },
    sandbox: { autoscaling: { enabled: true, maxReplicas: 50 }, kubernetes: { runtimeClass: 'gvisor' } },
  },
  serve: {
    origins: ['https://app.example.com'],
    from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
  },
  codecServer: {
    enabled: true,
    tokenSecret: { name: 'codec' },
    uiOrigins: ['https://temporal.example.com'],
    from: [{ podSelector: { matchLabels: { app: 'codec-proxy' } } }],
  },
  monitoring: {
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  },
  autoscaling: { triggerAuthentication: 'temporal-cloud' },
} as const

const dockerHosts = { workers: { sandbox: { backend: 'docker', kubernetes: { image: '' } } } } as const

const nothingOptional = {
  workers: { sandbox: { backend: 'none', kubernetes: { image: '' } } },
  serve: { enabled: false, tokenSecret: { name: '' } },
  valuesGc: { enabled: false },
  monitoring: { from: [] },
  networkPolicies: { enabled: false },
} as const

/** Kinds whose schemas are those of other projects. */
const isCustom = ({ apiVersion }: Manifest): boolean => /^(monitoring\.coreos\.com|keda\.sh)\//.test(apiVersion)

function podsOf(manifests: readonly Manifest[]): ReadonlyMap<string, PodTemplate> {
  return new Map(
    manifests.flatMap(({ kind, metadata, spec }) => {
      const owner = kind === 'CronJob' ? (spec as { jobTemplate: { spec: object } }).jobTemplate.spec : spec
      const template = (owner as { template?: PodTemplate } | undefined)?.template
      return template ? [[metadata.name, template] as const] : []
    }),
  )
}

const ofKind = (manifests: readonly Manifest[], kind: string): readonly Manifest[] =>
  manifests.filter((each) => each.kind === kind)

const selects = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)

const secretsOf = ({ spec }: PodTemplate): readonly string[] =>
  (spec.containers[0]?.envFrom ?? []).map(({ secretRef }) => secretRef.name)

const variablesOf = ({ spec }: PodTemplate): Readonly<Record<string, unknown>> =>
  Object.fromEntries((spec.containers[0]?.env ?? []).map(({ name, value, valueFrom }) => [name, value ?? valueFrom]))

describe.skipIf(!tools || !program)('the Helm chart', () => {
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

  it('the servers have their token from a Secret, and a Service', async () => {
    const manifests = await render(everything)
    const pods = podsOf(manifests)
    const serve = pods.get('ptc-durable-ptc-serve')
    const codec = pods.get('ptc-durable-ptc-codec-server')
    expect(serve && variablesOf(serve)).toMatchObject({
      PTC_SERVE_TOKEN: { secretKeyRef: { name: 'serve', key: 'token' } },
    })
    expect(codec && variablesOf(codec)).toMatchObject({
      PTC_CODEC_TOKEN: { secretKeyRef: { name: 'codec', key: 'token' } },
    })
    expect(serve?.spec.containers[0]?.args).toEqual(
      'serve --host 0.0.0.0 --port 8080 --origin https://app.example.com'.split(' '),
    )
    expect(codec?.spec.containers[0]?.args).toEqual(
      'codec-server --host 0.0.0.0 --port 8234 --ui-origin https://temporal.example.com'.split(' '),
    )
    for (const { metadata, spec } of ofKind(manifests, 'Service')) {
      const { selector } = spec as { selector: Labels }
      const selected = [...pods].filter(([, pod]) => selects(selector, pod.metadata.labels)).map(([name]) => name)
      expect(selected).toEqual(
        metadata.name.endsWith('metrics') ? expect.arrayContaining(workerNames) : [metadata.name],
      )
      expect(selected).toHaveLength(metadata.name.endsWith('metrics') ? workerNames.length : 1)
    }
  })

  it('values gc runs regularly, once at a time', async () => {
    const [job] = ofKind(await render({ valuesGc: { schedule: '@hourly', olderThan: '7d' } }), 'CronJob')
    expect(job?.spec).toMatchObject({ schedule: '@hourly', concurrencyPolicy: 'Forbid' })
    const [pod] = podsOf(job ? [job] : []).values()
    expect(pod?.spec.containers[0]?.args).toEqual(['values', 'gc', '--older-than', '7d'])
  })

  it('each pod refuses connections, but those to its open port from the given peers', async () => {
    const manifests = await render(everything)
    const policies = ofKind(manifests, 'NetworkPolicy')
      .filter(({ metadata }) => metadata.namespace === 'agents')
      .map(({ spec }) => spec as unknown as Policy)
    const allowed = [...podsOf(manifests)].map(([name, { metadata }]) => {
      const own = policies.filter(({ podSelector }) => selects(podSelector.matchLabels ?? {}, metadata.labels))
      expect(own.some(({ policyTypes, ingress }) => policyTypes.includes('Ingress') && ingress === undefined)).toBe(
        true,
      )
      const rules = own.flatMap(({ ingress = [] }) => ingress)
      expect(rules.every(({ from }) => from.length > 0)).toBe(true)
      return [name.replace('ptc-durable-ptc-', ''), rules.flatMap(({ ports }) => ports.map(({ port }) => port))]
    })
    expect(Object.fromEntries(allowed)).toEqual({
      'worker-workflow': ['metrics'],
      'worker-model': ['metrics'],
      'worker-tools': ['metrics'],
      'worker-sandbox': ['metrics'],
      serve: ['http'],
      'codec-server': ['http'],
      'values-gc': [],
    })
  })

  it('each Deployment has a disruption budget', async () => {
    const manifests = await render(everything)
    const pods = podsOf(ofKind(manifests, 'Deployment'))
    const budgets = ofKind(manifests, 'PodDisruptionBudget').map(
      ({ spec }) => (spec as { selector: { matchLabels: Labels } }).selector.matchLabels,
    )
    expect(pods.size).toBe(6)
    for (const { metadata } of pods.values())
      expect(budgets.filter((labels) => selects(labels, metadata.labels))).toHaveLength(1)
  })

  it('the alerts are those of the fleet on one machine, and their job is that of the ServiceMonitor', async () => {
    const manifests = await render(everything)
    const [alerts] = await parseYaml(readFileSync(join(chartFolder, 'files/alerts.yml'), 'utf8'))
    const [rule] = ofKind(manifests, 'PrometheusRule')
    expect(rule?.spec).toEqual(alerts)
    expect(rule?.metadata.labels).toMatchObject({ release: 'prometheus' })
    expect(readFileSync(join(root, 'deploy/prometheus/prometheus.yml'), 'utf8')).toContain(
      'rule_files: [../helm/durable-ptc/files/alerts.yml]',
    )
    const [monitor] = ofKind(manifests, 'ServiceMonitor')
    const { jobLabel, selector, endpoints } = monitor?.spec as unknown as {
      jobLabel: string
      selector: { matchLabels: Labels }
      endpoints: readonly { port: string }[]
    }
    const services = ofKind(manifests, 'Service').filter(({ metadata }) =>
      selects(selector.matchLabels, metadata.labels ?? {}),
    )
    expect(services.map(({ metadata }) => metadata.labels?.[jobLabel])).toEqual(['durable-ptc'])
    expect(services[0]?.spec).toMatchObject({ ports: endpoints.map(({ port }) => ({ name: port })) })
  })

  it('KEDA scales each role by the backlog of its task queues', async () => {
    const manifests = await render(everything)
    const workflow = (name: string) => ({ name, type: 'workflow' })
    const activity = (name: string) => ({ name, type: 'activity' })
    const expected = {
      workflow: [workflow('expenses'), activity(roleQueue('expenses', 'workflow'))],
      model: [activity(roleQueue('expenses', 'model'))],
      tools: [activity(roleQueue('expenses', 'tools'))],
      sandbox: [activity(sandboxQueue('expenses', 'auto')), activity(sandboxQueue('expenses', 'kubernetes'))],
    }
    for (const role of roles) {
      const name = `ptc-durable-ptc-worker-${role}`
      const scaled = ofKind(manifests, 'ScaledObject').find(({ metadata }) => metadata.name === name)
      expect(scaled?.spec).toMatchObject({ scaleTargetRef: { name } })
      const { triggers } = scaled?.spec as unknown as {
        triggers: readonly { type: string; authenticationRef: unknown; metadata: Labels }[]
      }
      for (const { type, authenticationRef, metadata } of triggers) {
        expect({ type, authenticationRef }).toEqual({ type: 'temporal', authenticationRef: { name: 'temporal-cloud' } })
        expect(metadata).toMatchObject({
          endpoint: 'temporal-frontend.temporal.svc:7233',
          namespace: 'default',
          targetQueueSize: role === 'workflow' ? '20' : '5',
        })
      }
      expect(triggers.map(({ metadata }) => ({ name: metadata['taskQueue'], type: metadata['queueTypes'] }))).toEqual(
        expected[role],
      )
      const deployment = ofKind(manifests, 'Deployment').find(({ metadata }) => metadata.name === name)
      // KEDA owns the number.
      expect(deployment?.spec).not.toHaveProperty('replicas')
    }
    expect(ofKind(manifests, 'ScaledObject').map(({ spec }) => spec?.['maxReplicaCount'])).toContain(50)
    expect(ofKind(await render(), 'ScaledObject')).toEqual([])
  })

  it.each([
    [{ temporal: { address: '' } }, '/temporal/address'],
    [{ temporal: { address: 'https://temporal:7233' } }, '/temporal/address'],
    [{ image: { repository: '' } }, '/image/repository'],
    [{ image: { tag: '' } }, '/image/tag'],
    [{ image: { pullPolicy: 'Sometimes' } }, '/image/pullPolicy'],
    [{ replicas: 3 }, 'replicas'],
    [{ workers: { model: { replica: 3 } } }, '/workers/model'],
    [{ workers: { tools: { replicas: 0 } } }, '/workers/tools/replicas'],
    [{ workers: { tools: { environment: { PORT: 80 } } } }, '/workers/tools/environment/PORT'],
    [{ workers: { tools: { environment: { TASK_QUEUE: 'other' } } } }, '/workers/tools/environment/TASK_QUEUE'],
    [{ workers: { tools: { secrets: ['Not A Name'] } } }, '/workers/tools/secrets/0'],
    [{ workers: { model: { resources: { limits: { memory: 'much' } } } } }, '/workers/model/resources/limits/memory'],
    [{ workers: { sandbox: { backend: 'podman' } } }, '/workers/sandbox/backend'],
    [{ workers: { sandbox: { kubernetes: { image: '' } } } }, '/workers/sandbox/kubernetes/image'],
    [{ workers: { sandbox: { docker: { socketGroup: 0 } } } }, '/workers/sandbox/docker/socketGroup'],
    [{ workers: { workflow: { autoscaling: { minReplicas: 0 } } } }, '/workers/workflow/autoscaling/minReplicas'],
    [{ serve: { tokenSecret: { name: '' } } }, '/serve/tokenSecret/name'],
    [{ serve: { from: [{}] } }, '/serve/from/0'],
    [{ codecServer: { enabled: true, uiOrigins: ['https://ui.example.com'] } }, '/codecServer/tokenSecret/name'],
    [{ codecServer: { enabled: true, tokenSecret: { name: 'codec' } } }, '/codecServer/uiOrigins'],
    [{ valuesGc: { schedule: 'daily' } }, '/valuesGc/schedule'],
    [{ monitoring: { serviceMonitor: { interval: 15 } } }, '/monitoring/serviceMonitor/interval'],
  ])('the chart refuses %j with a message that names the field', async (values, field) => {
    await expect(render(values)).rejects.toThrow(field)
  })
})
