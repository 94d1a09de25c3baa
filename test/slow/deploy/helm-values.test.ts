import { describe, expect, it } from 'vitest'
import { helm, renderChart, requiredValues } from '../../support/deploy/helm.js'
import { deployTools } from '../../support/deploy/tools.js'

const [tools, program] = await Promise.all([deployTools, helm])

describe.skipIf(!tools || !program)('the values of the Helm chart', () => {
  const render = (...files: readonly object[]) => renderChart(program ?? '', requiredValues, ...files)

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
