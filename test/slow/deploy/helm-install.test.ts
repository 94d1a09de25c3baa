import { statSync } from 'node:fs'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createDataConverter, createPtcClient, type PtcClient } from '../../../src/client/index.js'
import { startScriptedMessagesApi } from '../../../src/testing/index.js'
import { chartFolder, helm, valueArguments } from '../../support/deploy/helm.js'
import { runTool } from '../../support/deploy/tools.js'
import { buildWorkerImage } from '../../support/deploy/worker-image.js'
import { describeKubernetes } from '../../support/kubernetes/describe-kubernetes.js'
import type { OneNodeCluster } from '../../support/kubernetes/one-node-cluster.js'
import { forwardServicePorts, serviceAddress } from '../../support/kubernetes/service-address.js'
import { pollOptions } from '../../support/poll-options.js'
import { s3Available, S3Server } from '../../support/s3/s3-server.js'
import { answerResult, code, turn } from '../../support/script.js'
import { connectClient, sharedServer, uniqueName, useOwnNamespace } from '../../support/temporal/shared-server.js'

const image = 'durable-ptc-test-chart'
const namespace = 'agents'
const sandboxes = 'agents-sandboxes'
/** The kinds of all objects that the chart makes, but the namespace of sandboxes. */
const kinds =
  'deployments,daemonsets,cronjobs,jobs,pods,services,serviceaccounts,networkpolicies,poddisruptionbudgets,roles,rolebindings,resourcequotas'

const [program, hasS3] = await Promise.all([helm, s3Available])

await describeKubernetes('the Helm chart on a cluster', (cluster) => {
  it.skipIf(!program || !hasS3)(
    'a release runs an agent with code in a pod, then with code on a Docker host, and leaves nothing when it is removed',
    async () => {
      onTestFinished(await useOwnNamespace())
      const kubectl = (...args: readonly string[]) => cluster().kubectl('--namespace', namespace, ...args)
      const runHelm = (...args: readonly string[]) =>
        runTool(program ?? '', [...args, '--namespace', namespace], { KUBECONFIG: cluster().kubeconfig })
      const store = await S3Server.start()
      onTestFinished(() => store.close())
      const api = await startScriptedMessagesApi({
        script: [turn(code('print(sum(await get_expenses(employee="ada")))')), answerResult],
      })
      onTestFinished(() => api.close())
      await buildWorkerImage(image)
      const repository = await cluster().loadImage(image)
      await cluster().routeNamespace(namespace)
      const taskQueue = uniqueName('chart')
      const values = await reachableValues(cluster(), store, api.url, { repository, taskQueue })
      await kubectl('create', 'namespace', namespace)
      await createSecrets(kubectl)

      await runHelm('install', 'ptc', chartFolder, ...(await valueArguments(values)), '--wait', '--timeout', '5m')
      const { bucket } = store.settings()
      const settings = {
        kind: 's3',
        bucket,
        region: 'us-east-1',
        endpoint: store.endpoint,
        forcePathStyle: true,
      } as const
      const client = await connectClient(await createDataConverter(settings))
      onTestFinished(() => client.connection.close())
      const ptc = createPtcClient({ client, taskQueue })
      await runAgent(ptc)
      const pod = await kubectl('get', 'pods', ...of('serve'), '--output', 'jsonpath={.items[0].status.podIP}')
      const conversations = (token: string) =>
        fetch(`http://${pod}:8080/conversations`, { headers: { authorization: `Bearer ${token}` } })
      expect((await conversations('wrong')).status).toBe(401)
      expect(await (await conversations('serve-token')).json()).toEqual([])

      // What the notes of the chart say.
      const workflowWorker = 'deployment/ptc-durable-ptc-worker-workflow'
      const doctor = await kubectl('exec', workflowWorker, '--', 'sh', '-c', 'ptc doctor 2>&1 || true')
      expect(doctor).toMatch(/temporal operator search-attribute create .*PtcStatus/)

      await kubectl('create', 'job', 'gc', '--from=cronjob/ptc-durable-ptc-values-gc')
      await kubectl('wait', 'job/gc', '--for=condition=complete', '--timeout=120s')
      expect(await kubectl('logs', 'job/gc')).toMatch(/^removed \d+ values?, /m)
      await kubectl('delete', 'job', 'gc')

      await cluster().kubectl('label', 'node', 'localhost', 'durable-ptc/sandboxes=true')
      const upgrade = await valueArguments(values, { workers: { sandbox: dockerHost() } })
      await runHelm('upgrade', 'ptc', chartFolder, ...upgrade, '--wait', '--timeout', '5m')
      await kubectl('wait', `namespace/${sandboxes}`, '--for=delete', '--timeout=120s')
      const template = 'jsonpath={.items[*].kind} {.items[*].status.numberReady}'
      expect(await kubectl('get', 'daemonsets,deployments', ...of('worker-sandbox'), '--output', template)).toBe(
        'DaemonSet 1',
      )
      await runAgent(ptc)

      await runHelm('uninstall', 'ptc', '--wait', '--timeout', '5m')
      const everywhere = ['get', kinds, '--all-namespaces', '--output', 'name', ...of()]
      await vi.waitUntil(async () => (await kubectl(...everywhere)) === '', pollOptions)
      // What is left is what the test made, and what Kubernetes puts into each namespace.
      const rest = await kubectl('get', `${kinds},secrets,configmaps`, '--output', 'name')
      expect(rest.trim().split('\n').toSorted()).toEqual([
        'configmap/kube-root-ca.crt',
        'secret/model-keys',
        'secret/serve',
        'secret/value-store',
        'serviceaccount/default',
      ])
    },
    // The image is built, which takes minutes.
    20 * 60_000,
  )
})

/** Options of kubectl that select the objects of the release, or of one component. */
function of(component?: string): readonly string[] {
  const labels = ['app.kubernetes.io/instance=ptc', ...(component ? [`app.kubernetes.io/component=${component}`] : [])]
  return ['--selector', labels.join(',')]
}

/** Values for pods that reach this machine by one address: Temporal, the store, the model and the API server. */
async function reachableValues(
  cluster: OneNodeCluster,
  store: S3Server,
  modelUrl: string,
  { repository, taskQueue }: { readonly repository: string; readonly taskQueue: string },
) {
  const portOf = (url: string) => Number(new URL(url).port)
  const server = await cluster.kubectl('config', 'view', '--output', 'jsonpath={.clusters[0].cluster.server}')
  const { address, namespace: temporalNamespace } = sharedServer()
  const own = [portOf(`http://${address}`), portOf(store.endpoint), portOf(modelUrl)]
  const ports = { 443: portOf(server), ...Object.fromEntries(own.map((port) => [port, port])) }
  onTestFinished(await forwardServicePorts(ports))
  const [temporal, s3, model] = own
  const settings = store.settings()
  const one = { replicas: 1, resources: { requests: { cpu: '10m', memory: '64Mi' } } }
  return {
    image: { repository, tag: 'latest', pullPolicy: 'Never' },
    temporal: { address: `${serviceAddress}:${temporal}`, namespace: temporalNamespace },
    taskQueue,
    environment: {
      S3_ENDPOINT: `http://${serviceAddress}:${s3}`,
      S3_BUCKET: settings.bucket,
      AWS_REGION: settings.region ?? '',
    },
    secrets: ['value-store'],
    workers: {
      workflow: one,
      model: {
        ...one,
        secrets: ['model-keys'],
        environment: { ANTHROPIC_BASE_URL: `http://${serviceAddress}:${model}` },
      },
      tools: one,
      sandbox: { ...one, kubernetes: { namespace: sandboxes, image: cluster.image } },
    },
    serve: { ...one, tokenSecret: { name: 'serve' } },
    codecServer: {
      ...one,
      enabled: true,
      tokenSecret: { name: 'serve' },
      uiOrigins: ['http://localhost:8080'],
    },
  }
}

/** Values for sandboxes in the Docker daemon of the tests, whose images it has. */
function dockerHost() {
  const variables = ['PTC_BASE_IMAGE', 'PTC_NODE_IMAGE', 'PTC_BUILD_NETWORK']
  const environment = Object.fromEntries(
    variables.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
  return { backend: 'docker', docker: { socketGroup: statSync('/var/run/docker.sock').gid }, environment }
}

async function createSecrets(kubectl: (...args: readonly string[]) => Promise<string>): Promise<void> {
  const secrets = {
    'value-store': {
      AWS_ACCESS_KEY_ID: process.env['AWS_ACCESS_KEY_ID'] ?? '',
      AWS_SECRET_ACCESS_KEY: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
    'model-keys': { ANTHROPIC_API_KEY: 'test-key' },
    serve: { token: 'serve-token' },
  }
  for (const [name, content] of Object.entries(secrets)) {
    const literals = Object.entries(content).map(([key, value]) => `--from-literal=${key}=${value}`)
    await kubectl('create', 'secret', 'generic', name, ...literals)
  }
}

/** The scripted model answers the same for each run. */
async function runAgent(ptc: PtcClient): Promise<void> {
  const run = await ptc.startAgent({ question: 'What did Ada spend?', model: 'scripted' })
  expect(await run.result()).toMatchObject({ status: 'answered', answer: '6340' })
}
