import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { metricTable } from '../../../src/common/telemetry/metric-table.js'
import { searchAttributeTypes, toTemporalType } from '../../../src/common/run/search-attributes.js'
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
  const used = [...expressions, read('deploy/prometheus/alerts.yml')].flatMap((text) => text.match(/\bptc_\w+/g) ?? [])

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
  const alerts = [...read('deploy/prometheus/alerts.yml').matchAll(/alert: (\w+)/g)].map(([, name = '']) => name)
  const runbook = read('docs/guides/operations.md')
  expect(alerts.length).toBeGreaterThan(0)
  expect(alerts.filter((name) => !runbook.includes(`\`${name}\``))).toEqual([])
})

describe.skipIf(tools === undefined)('the files of a fleet', () => {
  it("Docker Compose accepts the fleet, with the Docker socket and the model's key in one service each", async () => {
    const services = await composeServices()
    const having = (text: string): readonly string[] =>
      Object.entries(services).flatMap(([name, service]) => (JSON.stringify(service).includes(text) ? [name] : []))
    expect(having('docker.sock')).toEqual(['worker-sandbox'])
    expect(having('ANTHROPIC_API_KEY')).toEqual(['worker-model'])
    expect(having('PTC_CODEC_TOKEN')).toEqual(['codec-proxy', 'codec-server'])
    expect(having('audit.jsonl')).toEqual(['worker-model', 'worker-sandbox', 'worker-tools', 'worker-workflow'])
    const registered = services['search-attributes']?.command?.join(' ')
    const wanted = Object.entries(searchAttributeTypes).map(
      ([name, type]) => `--name=${name} --type=${toTemporalType(type)}`,
    )
    expect(registered?.split(/ (?=--name)/).toSorted()).toEqual(wanted.toSorted())
    const published = Object.values(services).flatMap(({ ports = [] }) => ports.map((port) => JSON.stringify(port)))
    expect(published.filter((port) => !port.includes('127.0.0.1'))).toEqual([])
  })

  it('Prometheus accepts the files of the fleet, and its alerts fire when they should', async () => {
    const folder = join(root, 'deploy/prometheus')
    await runTool('promtool', ['check', 'config', join(folder, 'prometheus.yml')])
    await runTool('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', join(folder, 'alerts.yml')])
    await runTool('promtool', ['test', 'rules', join(folder, 'alerts.test.yml')])
  })

  it('the files of the fleet have a dashboard with queries that Prometheus can parse', async () => {
    const file = join(await temporaryFolder(), 'rules.yml')
    const rules = expressions.map((expr, number) => ({ record: `panel:${number}`, expr }))
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    await runTool('promtool', ['check', 'rules', file])
  })

  it('the schemas of Kubernetes accept the files of the fleet, and the kustomization names them all', async () => {
    const folder = join(root, 'deploy/kubernetes')
    const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml')
    if (tools) {
      await validateKubernetes(tools, [
        ...files.map((file) => join(folder, file)),
        join(root, 'deploy/sandbox-pods.yaml'),
      ])
    }
    const named = /resources: \[(?<list>.*)\]/.exec(read('deploy/kubernetes/kustomization.yaml'))?.groups?.['list']
    expect(named?.split(', ').toSorted()).toEqual(files.toSorted())
  })
})
