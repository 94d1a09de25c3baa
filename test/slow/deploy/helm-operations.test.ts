import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { roleQueue, roles, sandboxQueue } from '../../../src/common/names.js'
import {
  isCustom,
  ofKind,
  podsOf,
  type Policy,
  selects,
  specOf,
  variablesOf,
} from '../../support/deploy/chart-objects.js'
import { everything } from '../../support/deploy/chart-values.js'
import { customResourceTypes } from '../../support/deploy/custom-resources.js'
import { chartFolder, helm, type Labels, renderChart, requiredValues } from '../../support/deploy/helm.js'
import { deployTools, parseYaml, root, runTool } from '../../support/deploy/tools.js'
import { temporaryFolder } from '../../support/folders.js'

const [tools, program, types] = await Promise.all([deployTools, helm, customResourceTypes])

const workerNames = roles.map((role) => `ptc-durable-ptc-worker-${role}`)

describe.skipIf(!tools || !program)('what the Helm chart has around its workers', () => {
  const render = (...files: readonly object[]) => renderChart(program ?? '', requiredValues, ...files)

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

  it.skipIf(!types)('the objects for KEDA and the Prometheus operator fit the types of these projects', async () => {
    const folder = await temporaryFolder()
    const files = (await render(everything)).filter(isCustom).map((manifest, number) => {
      const file = join(folder, `${number}.json`)
      writeFileSync(file, JSON.stringify(manifest))
      return file
    })
    expect(files).toHaveLength(2 + roles.length)
    await runTool(types ?? '', files)
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
    const { jobLabel, selector, endpoints } = specOf(monitor) as {
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
      const { triggers } = specOf(scaled) as {
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
})
