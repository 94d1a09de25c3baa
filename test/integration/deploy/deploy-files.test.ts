import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { metricTable } from '../../../src/common/telemetry/metric-table.js'
import { searchAttributeTypes, toTemporalType } from '../../../src/common/run/search-attributes.js'
import { withBuiltInProviders } from '../../../src/models/options/providers.js'
import { composeServices, deployTools, root, runTool, validateKubernetes } from '../../support/deploy/tools.js'
import { temporaryFolder } from '../../support/folders.js'

const tools = await deployTools

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[]
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const dashboard = JSON.parse(read('deploy/grafana/dashboards/durable-ptc.json')) as Dashboard

const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

describe('metrics of dashboard and alerts', () => {
  const used = [...expressions, read('deploy/helm/durable-ptc/files/alerts.yml')].flatMap(
    (text) => text.match(/\bptc_\w+/g) ?? [],
  )

  it('the metrics of dashboard and alerts are all declared', () => {
    const declared = Object.entries(metricTable).flatMap(([name, { kind }]) =>
      kind === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    )
    expect(used.filter((name) => !declared.includes(name))).toEqual([])
  })

  it('all declared metrics are in the dashboard', () => {
    const shown = new Set(expressions.flatMap((text) => text.match(/\bptc_\w+/g) ?? []))
    const base = new Set([...shown].map((name) => name.replace(/_(bucket|count|sum)$/, '')))
    expect(Object.keys(metricTable).filter((name) => !base.has(name))).toEqual([])
  })
})

it('each alert is in the runbook', () => {
  const alerts = [...read('deploy/helm/durable-ptc/files/alerts.yml').matchAll(/alert: (\w+)/g)].map(
    ([, name = '']) => name,
  )
  const runbook = read('docs/guides/operations.md')
  expect(alerts.length).toBeGreaterThan(0)
  expect(alerts.filter((name) => !runbook.includes(`\`${name}\``))).toEqual([])
})

describe.skipIf(tools === undefined)('the files of a fleet', () => {
  it('Docker Compose accepts the fleet, with the Docker socket and each token where it is needed', async () => {
    const services = await composeServices()
    const having = (text: string): readonly string[] =>
      Object.entries(services).flatMap(([name, service]) => (JSON.stringify(service).includes(text) ? [name] : []))
    expect(having('docker.sock')).toEqual(['worker-sandbox'])
    expect(having('PTC_CODEC_TOKEN')).toEqual(['codec-proxy', 'codec-server'])
    expect(having('PTC_SERVE_TOKEN')).toEqual(['serve'])
    expect(having('audit.jsonl')).toEqual(['worker-model', 'worker-sandbox', 'worker-tools', 'worker-workflow'])
    const published = Object.values(services).flatMap(({ ports = [] }) => ports.map((port) => JSON.stringify(port)))
    expect(published.filter((port) => !port.includes('127.0.0.1'))).toEqual([])
  })

  it('the service of the models gets the keys of all providers, and the image has their packages', async () => {
    const providers = Object.values(withBuiltInProviders({})).flatMap((provider) =>
      'kind' in provider ? [provider] : [],
    )
    const ofVendors = providers.flatMap((provider) =>
      'apiKey' in provider && typeof provider.apiKey === 'object' ? [provider.apiKey.environment] : [],
    )
    const keys = [...ofVendors, 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'AWS_BEARER_TOKEN_BEDROCK']
    expect(keys.length).toBeGreaterThan(7)
    const services = await composeServices(Object.fromEntries(keys.map((name) => [name, `key-of-${name}`])))
    expect(services['worker-model']?.environment).toMatchObject(
      Object.fromEntries(keys.map((name) => [name, `key-of-${name}`])),
    )
    const others = Object.entries(services).filter(([name]) => name !== 'worker-model')
    expect(JSON.stringify(others)).not.toContain('key-of-')
    const packages = providers.flatMap((provider) => ('package' in provider ? [provider.package] : []))
    const dockerfile = read('deploy/Dockerfile')
    expect(packages.length).toBeGreaterThan(5)
    expect(packages.filter((name) => !dockerfile.includes(`${name} `))).toEqual([])
  })

  it('the files of the fleet register all search attributes', () => {
    const script = read('deploy/temporal/create-namespace.sh')
    const registered = [...script.matchAll(/^register (\w+ \w+)$/gm)].map(([, attribute = '']) => attribute)
    const wanted = Object.entries(searchAttributeTypes).map(([name, type]) => `${name} ${toTemporalType(type)}`)
    expect(registered.toSorted()).toEqual(wanted.toSorted())
  })

  it('Prometheus accepts the files of the fleet, and its alerts fire when they should', async () => {
    const folder = join(root, 'deploy/prometheus')
    await runTool('promtool', ['check', 'config', join(folder, 'prometheus.yml')])
    await runTool('promtool', [
      'check',
      'rules',
      '--lint=all',
      '--lint-fatal',
      join(root, 'deploy/helm/durable-ptc/files/alerts.yml'),
    ])
    await runTool('promtool', ['test', 'rules', join(folder, 'alerts.test.yml')])
  })

  it('the container of Prometheus has the alerts where its configuration names them', async () => {
    const [, named = ''] = /^rule_files: \[(.*)\]$/m.exec(read('deploy/prometheus/prometheus.yml')) ?? []
    const mounts = (await composeServices())['prometheus']?.volumes?.map((volume) => volume.split(':')) ?? []
    const path = join('/etc/prometheus', named)
    const [host = '', inside = ''] = mounts.find(([, folder = '']) => path.startsWith(`${folder}/`)) ?? []
    expect(existsSync(join(host, relative(inside, path)))).toBe(true)
  })

  it('the files of the fleet have a dashboard with queries that Prometheus can parse', async () => {
    const file = join(await temporaryFolder(), 'rules.yml')
    const rules = expressions.map((expr, number) => ({ record: `panel:${number}`, expr }))
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    await runTool('promtool', ['check', 'rules', file])
  })

  it('Alertmanager accepts its file', async () => {
    await runTool('amtool', ['check-config', join(root, 'deploy/alertmanager/alertmanager.yml')])
  })

  it('the schemas of Kubernetes accept the namespace of sandboxes', async () => {
    if (tools) await validateKubernetes(tools, [join(root, 'deploy/sandbox-pods.yaml')])
  })
})
