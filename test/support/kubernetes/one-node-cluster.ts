import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { buildClusterBinaries } from './cluster-binaries.js'

const run = promisify(execFile)
const script = fileURLToPath(new URL('./cluster.sh', import.meta.url))
const plugin = fileURLToPath(new URL('./routed-namespace.sh', import.meta.url))
const manifest = fileURLToPath(new URL('../../../deploy/sandbox-pods.yaml', import.meta.url))

/** The namespace of the pods of sandboxes, as in the manifest. */
export const sandboxNamespace = 'durable-ptc-sandboxes'

/** A Kubernetes with one node on this machine, with the sandbox image and the objects of deploy/kubernetes. */
export class OneNodeCluster {
  readonly #folder: string
  /** Of an administrator. */
  readonly kubeconfig: string
  /** Of the account with the rights in the manifest. */
  readonly workerKubeconfig: string
  /** The sandbox image on the node. */
  readonly image: string

  private constructor(folder: string, kubeconfig: string, workerKubeconfig: string, image: string) {
    this.#folder = folder
    this.kubeconfig = kubeconfig
    this.workerKubeconfig = workerKubeconfig
    this.image = image
  }

  static async start(): Promise<OneNodeCluster> {
    const { programs, pause } = await buildClusterBinaries()
    const folder = await mkdtemp(join(tmpdir(), 'ptc-kubernetes-'))
    try {
      const { stdout } = await run(script, ['up', folder, programs, pause])
      const kubeconfig = stdout.trim()
      const image = await loadSandboxImage(folder)
      const kubectl = (...args: readonly string[]) => run('kubectl', ['--kubeconfig', kubeconfig, ...args])
      await kubectl('create', 'namespace', 'durable-ptc')
      await kubectl('apply', '--filename', manifest)
      const token = await kubectl('--namespace', 'durable-ptc', 'create', 'token', 'worker-sandbox', '--duration=24h')
      const worker = join(folder, 'worker.kubeconfig')
      await writeFile(worker, await workerConfig(kubeconfig, token.stdout.trim()))
      return new OneNodeCluster(folder, kubeconfig, worker, image)
    } catch (error) {
      await run(script, ['down', folder])
      throw error
    }
  }

  /** Runs kubectl as an administrator and returns its output. */
  async kubectl(...args: readonly string[]): Promise<string> {
    const { stdout } = await run('kubectl', ['--kubeconfig', this.kubeconfig, ...args])
    return stdout
  }

  /** Gives new pods of one namespace, and of no other one, a network in which they reach this machine. */
  async routeNamespace(namespace: string): Promise<void> {
    const script = join(this.#folder, 'cni-bin', 'routed-namespace')
    await writeFile(script, (await readFile(plugin, 'utf8')).replace('NAMESPACE;', `${namespace};`))
    await chmod(script, 0o755)
    const [name = ''] = await readdir(join(this.#folder, 'cni'))
    const path = join(this.#folder, 'cni', name)
    await writeFile(path, (await readFile(path, 'utf8')).replace('"type": "bridge"', '"type": "routed-namespace"'))
  }

  /** Copies an image from the Docker daemon of the tests, for pods with `imagePullPolicy: Never`. Returns its name. */
  loadImage(image: string): Promise<string> {
    return loadImage(this.#folder, image)
  }

  /** The names of all pods of sandboxes. */
  async pods(): Promise<readonly string[]> {
    const names = await this.kubectl('--namespace', sandboxNamespace, 'get', 'pods', '--output', 'name')
    return names.split('\n').filter((name) => name !== '')
  }

  /** Sends a signal to a program of the cluster: `api`, `kubelet`, `containerd` and others. */
  async signal(program: string, signal: NodeJS.Signals): Promise<void> {
    process.kill(Number(await readFile(join(this.#folder, 'pid', program), 'utf8')), signal)
  }

  /** Replaces the network of new pods by one in which they reach this machine; the returned function undoes it. */
  async routeNetwork(): Promise<() => Promise<void>> {
    const [name = ''] = await readdir(join(this.#folder, 'cni'))
    const path = join(this.#folder, 'cni', name)
    const original = await readFile(path, 'utf8')
    await writeFile(path, original.replace('"isGateway": false', '"isGateway": true, "isDefaultGateway": true'))
    return () => writeFile(path, original)
  }

  async stop(): Promise<void> {
    await run(script, ['down', this.#folder])
  }
}

/** Copies the sandbox image from the Docker daemon of the tests. Returns its name. */
async function loadSandboxImage(folder: string): Promise<string> {
  const docker = createDockerBackend()
  try {
    const { image } = await docker.ensureImage()
    return await loadImage(folder, image)
  } finally {
    await docker.close()
  }
}

/** Copies an image from the Docker daemon to the node. Returns its name there. */
async function loadImage(folder: string, image: string): Promise<string> {
  const save = spawn('docker', ['save', image], { stdio: ['ignore', 'pipe', 'inherit'] })
  const address = ['--address', join(folder, 'containerd.sock'), '--namespace', 'k8s.io']
  const load = spawn('ctr', [...address, 'images', 'import', '-'], { stdio: ['pipe', 'ignore', 'inherit'] })
  const ended = once(load, 'exit')
  await pipeline(save.stdout, load.stdin)
  const [code] = (await ended) as [number | null]
  if (code !== 0) throw new Error(`the image ${image} could not be loaded: ${code}`)
  return `docker.io/library/${image}`
}

async function workerConfig(adminConfig: string, token: string): Promise<string> {
  const args = ['--kubeconfig', adminConfig, 'config', 'view', '--raw', '--flatten', '--output', 'json']
  const { stdout } = await run('kubectl', args)
  const config = JSON.parse(stdout) as { users: unknown[]; contexts: { context: { user: string } }[] }
  const user = config.contexts[0]?.context.user
  return JSON.stringify({ ...config, users: [{ name: user, user: { token } }] })
}
