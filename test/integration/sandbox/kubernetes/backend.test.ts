import { describe, expect, test } from 'vitest'
import type { StepResult } from '../../../../src/common/session/steps.js'
import { SessionHarness } from '../../../../src/sandbox/conformance/session-harness.js'
import { podName } from '../../../../src/sandbox/kubernetes/pod/pod-identity.js'
import { checkSandboxes } from '../../../../src/cli/doctor/sandbox/check-sandboxes.js'
import { parseConfig } from '../../../../src/config/parse-config.js'
import { neverAborted, useFakeCluster } from '../../../support/kubernetes/use-fake-cluster.js'

const { cluster, newBackend, newSpec } = useFakeCluster()

describe('a session', () => {
  test('runs cells, and continues after its connection broke', async () => {
    const harness = await new SessionHarness(newBackend()).open()
    await expect(harness.runCell('x = await get(1)\nprint(x)')).resolves.toMatchObject({
      finalResult: { type: 'completed' },
    })
    cluster().cutConnections()
    await expect(harness.runCell('x["again"] = await get(2)\nprint(sorted(x))')).resolves.toMatchObject({
      output: "['a', 'again']\n",
    })
    await harness.close()
    await expect.poll(() => cluster().sessionPods).toEqual([])
  })

  test('is taken over by another worker in the middle of a step', async () => {
    const first = await new SessionHarness(newBackend()).open()
    const suspended = await first.startCell('x = 41\ny = await get(1)\nprint(x + y["a"])')
    const other = new SessionHarness(newBackend(), {}, first.session)
    other.step = first.step
    const result = await other.executeStep({
      type: 'results',
      results: callsOf(suspended).map(({ index }) => ({ index, outcome: { status: 'ok', value: { a: 1 } } })),
    })
    expect(result).toMatchObject({ type: 'completed', output: '42\n' })
    await other.close()
  })

  test('of two workers on one pod, the first learns that the other one has it', async () => {
    const spec = newSpec()
    const first = await newBackend().open(spec, neverAborted)
    const other = await newBackend().open(spec, neverAborted)
    await expect(first.ended).resolves.toMatchObject({ reason: 'replaced' })
    expect(cluster().sessionPods).toHaveLength(1)
    await other.kill()
  })

  test('is lost when its pod is deleted', async () => {
    const harness = await new SessionHarness(newBackend()).open()
    const step = harness.startCell('while True: pass')
    const name = podName(harness.sandboxSpec)
    await newBackend().remove(harness.sandboxSpec)
    await expect(step).resolves.toMatchObject({ type: 'lost', cause: 'gone' })
    await expect.poll(() => cluster().pods.has(name)).toBe(false)
  })

  test.each([
    [{ reason: 'Evicted', message: 'The node was low on resource: memory.' }, 'gone', 'Evicted'],
    [{ reason: 'Preempting', message: 'Preempted' }, 'gone', 'Preempting'],
  ])('is lost when the cluster ends its pod: %o', async (status, cause, text) => {
    const harness = await new SessionHarness(newBackend()).open()
    const step = harness.startCell('import time\nwhile True: pass')
    await expect.poll(() => cluster().requests).toContain('ATTACH pods')
    cluster().kill(podName(harness.sandboxSpec), status)
    const result = await step
    expect(result).toMatchObject({ type: 'lost', cause })
    expect(JSON.stringify(result)).toContain(text)
    await harness.close()
  })

  test('gets a new pod of the same name when the old one has ended', async () => {
    const backend = newBackend()
    const spec = newSpec()
    const connection = await backend.open(spec, neverAborted)
    const uid = cluster().pods.get(podName(spec))?.pod.metadata?.uid
    cluster().kill(podName(spec))
    await connection.ended
    const next = await backend.open(spec, neverAborted)
    expect(cluster().pods.get(podName(spec))?.pod.metadata?.uid).not.toBe(uid)
    await next.kill()
  })

  test('of an ended pod reports how it ended, and is gone when it was killed', async () => {
    const backend = newBackend()
    const [exited, killed] = [newSpec(), newSpec()]
    for (const spec of [exited, killed]) await (await backend.open(spec, neverAborted)).detach()
    cluster().kill(podName(killed))
    cluster().pods.get(podName(exited))?.process?.kill('SIGTERM')
    await expect.poll(() => cluster().pods.get(podName(exited))?.pod.status?.phase).toBe('Failed')
    await expect.poll(() => cluster().pods.get(podName(killed))?.pod.status?.phase).toBe('Failed')
    const connection = await backend.attach(exited, neverAborted)
    await expect(connection?.ended).resolves.toMatchObject({ reason: 'exited', exitCode: 143 })
    await expect(backend.attach(killed, neverAborted)).resolves.toBeUndefined()
    await backend.remove(exited)
  })

  test('does not touch a pod of others with its name', async () => {
    const spec = newSpec()
    const name = podName(spec)
    cluster().pods.set(name, { pod: { metadata: { name, uid: '1' } }, process: undefined, sockets: new Set() })
    const backend = newBackend()
    await expect(backend.open(spec, neverAborted)).rejects.toMatchObject({ code: 'SANDBOX_NAME_TAKEN' })
    await expect(backend.attach(spec, neverAborted)).resolves.toBeUndefined()
    await backend.remove(spec)
    expect(cluster().pods.delete(name)).toBe(true)
  })
})

describe('a pod', () => {
  test('is hardened, and its runner gets no variables of the cluster', async () => {
    const harness = await new SessionHarness(newBackend({ runtimeClass: 'gvisor' })).open()
    const spec = cluster().pods.get(podName(harness.sandboxSpec))?.pod.spec
    expect(spec).toMatchObject({
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      activeDeadlineSeconds: 86_400,
      runtimeClassName: 'gvisor',
      dnsPolicy: 'None',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          stdin: true,
          stdinOnce: false,
          securityContext: {
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
            privileged: false,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    })
    expect(spec?.securityContext?.runAsUser).toBeGreaterThanOrEqual(100_000)
    const { output } = await harness.runCell('import os\nprint([name for name in os.environ if "KUBE" in name])')
    expect(output).toBe('[]\n')
    await harness.close()
  })
})

const waiting = (reason: string, message: string) => () => ({
  phase: 'Pending',
  containerStatuses: [
    { name: 'sandbox', image: '', imageID: '', ready: false, restartCount: 0, state: { waiting: { reason, message } } },
  ],
})

const ended = (message: string) => () => ({
  phase: 'Failed',
  containerStatuses: [
    {
      name: 'sandbox',
      image: '',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode: 1, reason: 'Error', message } },
    },
  ],
})

const apiVersion = 'client.authentication.k8s.io/v1'

/** What `ptc doctor` says about the sandbox. */
async function doctorCheck() {
  const kubernetes = { namespace: 'sandboxes', image: 'registry/sandbox:1' }
  const [check] = await checkSandboxes(
    parseConfig({ tools: [], sandbox: { backend: 'kubernetes', kubernetes } }, 'test'),
  )
  return check
}

describe('a worker that starts', () => {
  test('has a usable backend', async () => {
    const { usable, summary, problems } = await newBackend().check()
    expect(problems).toEqual([])
    expect(usable).toBe(true)
    expect(summary).toBe('Kubernetes v1.0.0-fake, namespace sandboxes, image registry/sandbox:1')
    expect(cluster().pods.size).toBe(0)
  })

  test.each([
    [
      'without a kubeconfig',
      (): void => void (process.env['KUBECONFIG'] = '/no/such/config'),
      'SANDBOX_UNAVAILABLE',
      /no kubeconfig/,
    ],
    ['without an answer', () => cluster().writeConfig('http://127.0.0.1:1'), 'SANDBOX_BACKEND_DOWN', /ECONNREFUSED/],
    [
      'with expired credentials',
      () => refuse('GET version', 401, 'Unauthorized'),
      'SANDBOX_UNAVAILABLE',
      /Unauthorized/,
    ],
    [
      'without the namespace',
      () => refuse('POST pods', 404, 'namespaces "sandboxes" not found'),
      'SANDBOX_UNAVAILABLE',
      /namespaces/,
    ],
    [
      'with a used up quota',
      () => refuse('POST pods', 403, 'exceeded quota: sandboxes, requested: pods=1'),
      'SANDBOX_UNAVAILABLE',
      /exceeded quota/,
    ],
    [
      'without the runtime class',
      () => refuse('POST pods', 403, 'pod rejected: RuntimeClass "gvisor" not found'),
      'SANDBOX_UNENFORCED',
      /RuntimeClass/,
    ],
    [
      'without a right',
      () => (cluster().deniedRights = ['create pods/attach']),
      'SANDBOX_UNAVAILABLE',
      /may not create pods\/attach in the namespace sandboxes/,
    ],
    [
      'without the image',
      () => (cluster().statusOfNewPods = waiting('ErrImageNeverPull', 'not present')),
      'SANDBOX_IMAGE_MISSING',
      /can't load the image/,
    ],
    [
      'with an image for another processor',
      () => (cluster().statusOfNewPods = ended('exec /usr/bin/python3: exec format error\n')),
      'SANDBOX_IMAGE_MISSING',
      /is for another processor/,
    ],
    [
      'with a program for credentials that is not there',
      () => cluster().writeConfig(cluster().url, { exec: { apiVersion, command: '/no/such/program' } }),
      'SANDBOX_UNAVAILABLE',
      /no\/such\/program/,
    ],
    [
      'with an image of another version',
      () => (cluster().report = { runner: 'other' }),
      'SANDBOX_IMAGE_MISSING',
      /another version/,
    ],
    [
      'with a container that can not start',
      () => (cluster().statusOfNewPods = waiting('CreateContainerError', 'no profile')),
      'SANDBOX_UNAVAILABLE',
      /can't start the container/,
    ],
    [
      'with a network',
      () => (cluster().report = { reached: ['10.0.0.1:443'] }),
      'SANDBOX_UNENFORCED',
      /reaches 10\.0\.0\.1:443/,
    ],
    ['without a limit on memory', () => (cluster().report = { memoryBytes: null }), 'SANDBOX_UNENFORCED', /memory/],
    [
      'without a limit on processes',
      () => (cluster().report = { canLimitProcesses: false }),
      'SANDBOX_UNENFORCED',
      /processes/,
    ],
    ['with a token in pods', () => (cluster().report = { hasToken: true }), 'SANDBOX_UNENFORCED', /token/],
  ] as const)('%s reports it, also by `ptc doctor`, and opens no session', async (_name, arrange, code, message) => {
    arrange()
    expect(await doctorCheck()).toMatchObject({
      name: 'Sandbox kubernetes',
      status: 'error',
      message: expect.stringMatching(message),
      remedy: expect.stringMatching(/\w/),
    })
    const backend = newBackend()
    const { usable, problems } = await backend.check()
    expect(usable).toBe(false)
    expect(problems).toMatchObject([{ severity: 'error', code, message: expect.stringMatching(message) }])
    expect(problems.every(({ remedy }) => remedy !== '')).toBe(true)
    if (code !== 'SANDBOX_UNAVAILABLE') {
      await expect(backend.open(newSpec(), neverAborted)).rejects.toMatchObject({ code })
    }
    expect(cluster().sessionPods).toEqual([])
  })

  test('reports a pod that no node takes, after the time for a start', async () => {
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/1 nodes are available',
    }
    cluster().statusOfNewPods = () => ({ phase: 'Pending', conditions: [condition] })
    const { problems } = await newBackend({}, { startMs: 300 }).check()
    expect(problems).toMatchObject([{ code: 'SANDBOX_UNAVAILABLE', message: expect.stringContaining('0/1 nodes') }])
    expect(cluster().pods.size).toBe(0)
  })

  test('only warns of what a runtime class does not tell', async () => {
    cluster().report = { memoryBytes: null, canLimitProcesses: false }
    const { usable, problems } = await newBackend({ runtimeClass: 'gvisor' }).check()
    expect(usable, JSON.stringify(problems)).toBe(true)
    expect(problems.map(({ severity }) => severity)).toEqual(['warning', 'warning'])
  })
})

function refuse(what: string, status: number, message: string): void {
  cluster().refuse = (request) => (request === what ? { status, message } : undefined)
}

function callsOf(result: StepResult) {
  return result.type === 'suspended' ? result.calls : []
}
