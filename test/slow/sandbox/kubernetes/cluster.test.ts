import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { defaultLimits } from '../../../../src/common/run/limits.js'
import type { SandboxSpec } from '../../../../src/sandbox/backend.js'
import { SessionHarness } from '../../../../src/sandbox/conformance/session-harness.js'
import { describeKubernetes, kubernetesBackend } from '../../../support/kubernetes/describe-kubernetes.js'
import { sandboxNamespace } from '../../../support/kubernetes/one-node-cluster.js'

const neverAborted = new AbortController().signal

function newSpec(): SandboxSpec {
  const session = `test-${randomUUID()}`
  const limits = defaultLimits
  return { namespace: 'test', session, epoch: 1, workflowId: 'workflow', runId: 'run', language: 'python', limits }
}

await describeKubernetes('the Kubernetes backend', (cluster) => {
  it('is usable with the rights of the manifest, and leaves no pod of its check', async () => {
    const backend = kubernetesBackend(cluster())
    const { usable, summary, problems } = await backend.check()
    expect(usable, JSON.stringify(problems)).toBe(true)
    expect(summary).toContain('Kubernetes v1.34')
    await backend.close()
    await expect.poll(() => cluster().pods()).toEqual([])
  })

  it.each([
    [
      'an image that is not there',
      { image: 'registry.invalid/none:1' },
      'SANDBOX_IMAGE_MISSING',
      /can't load the image/,
    ],
    ['a namespace that is not there', { namespace: 'none' }, 'SANDBOX_UNAVAILABLE', /may not/],
    ['a missing runtime class', { runtimeClass: 'none' }, 'SANDBOX_UNENFORCED', /RuntimeClass/],
    ['a seccomp profile that is not there', { seccompProfile: 'none.json' }, 'SANDBOX_UNAVAILABLE', /can't start/],
    ['nodes that do not exist', { nodeSelector: { none: 'none' } }, 'SANDBOX_UNAVAILABLE', /no node takes/],
  ] as const)('reports %s', async (_name, options, code, message) => {
    const backend = kubernetesBackend(cluster(), { options, timings: { startMs: 20_000 } })
    const { usable, problems } = await backend.check()
    expect(usable).toBe(false)
    expect(problems[0]).toMatchObject({ code, message: expect.stringMatching(message) })
    await backend.close()
  })

  it('reports an image for another processor', async () => {
    const backend = kubernetesBackend(cluster(), { options: { image: await cluster().loadForeignImage() } })
    const { problems } = await backend.check()
    expect(problems).toMatchObject([
      { code: 'SANDBOX_IMAGE_MISSING', message: expect.stringContaining('is for another processor') },
    ])
    await backend.close()
  })

  it.each(['api', 'kubelet'] as const)('a session goes on while %s is stopped for a moment', async (program) => {
    const harness = await new SessionHarness(kubernetesBackend(cluster())).open()
    const running = harness.runCell('total = 0\nfor i in range(200):\n  total += (await get(i))["a"]\nprint(total)')
    await cluster().signal(program, 'SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    await cluster().signal(program, 'SIGCONT')
    await expect(running).resolves.toMatchObject({ output: '19900\n' })
    await harness.close()
  })

  it('code in a pod has no privilege, no token and no network', async () => {
    const harness = await new SessionHarness(kubernetesBackend(cluster())).open()
    const { output } = await harness.runCell(`
import os, socket
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print(status["CapEff"].strip(), status["CapBnd"].strip(), status["NoNewPrivs"].strip(), status["Seccomp"].strip())
print(os.getuid() >= 100000, os.path.exists("/var/run/secrets"), [n for n in os.environ if "KUBE" in n])
for path in ("/x", "/opt/durable-ptc/x", "/dev/shm/x"):
  try: open(path, "w"); print("wrote", path)
  except OSError: pass
for pid in (1,):
  for what in ("environ", "mem", "fd", "maps"):
    try: open(f"/proc/{pid}/{what}") if what != "fd" else os.listdir(f"/proc/{pid}/fd"); print("opened", what)
    except OSError: pass
try: os.kill(1, 9); print("alive")
except OSError as e: print(e)
try: socket.create_connection(("10.96.0.1", 443), timeout=2)
except OSError as e: print(type(e).__name__)
`)
    expect(output.split('\n')).toEqual([
      '0000000000000000 0000000000000000 1 2',
      'True False []',
      'alive',
      expect.stringMatching(/Error|timeout/),
      '',
    ])
    await harness.close()
  })

  it('a pod ends by itself after its lease, and is removed by the next worker', async () => {
    const backend = kubernetesBackend(cluster(), { timings: { leaseSeconds: 3, idleLeaseSeconds: 3 } })
    const spec = newSpec()
    await (await backend.open(spec, neverAborted)).detach()
    const phase = () =>
      cluster().kubectl('--namespace', sandboxNamespace, 'get', 'pods', '--output', 'jsonpath={.items[*].status.phase}')
    await expect.poll(phase).toBe('Failed')
    await expect(backend.attach(spec, neverAborted)).resolves.toBeUndefined()
    await expect.poll(() => cluster().pods()).toEqual([])
    await backend.close()
  })
})
