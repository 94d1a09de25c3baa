import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pack } from 'tar-stream'
import { z } from 'zod'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { buildClusterBinaries } from './cluster-binaries.js'
import { ClusterLock } from './cluster-lock.js'

const run = promisify(execFile)
const script = fileURLToPath(new URL('./cluster.sh', import.meta.url))
const plugin = fileURLToPath(new URL('./routed-namespace.sh', import.meta.url))
const manifest = fileURLToPath(new URL('../../../deploy/sandbox-pods.yaml', import.meta.url))

/** The namespace of the pods of sandboxes, as in the manifest. */
export const sandboxNamespace = 'durable-ptc-sandboxes'

/** The seccomp profile of this project on the node. */
export const seccompProfile = 'durable-ptc.json'

const nodeName = 'localhost'

const podList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({
        name: z.string(),
        labels: z.record(z.string(), z.string()).default({}),
        annotations: z.record(z.string(), z.string()).default({}),
        deletionTimestamp: z.string().optional(),
      }),
    }),
  ),
})

/** The programs of a cluster that a test may kill. */
export type ClusterProgram = 'api' | 'kubelet' | 'containerd' | 'etcd' | 'controllers' | 'scheduler'

/** A Kubernetes with one node on this machine, with the sandbox image and the objects of deploy/sandbox-pods.yaml. */
export class OneNodeCluster {
  readonly #folder: string
  readonly #lock: ClusterLock
  /** Of an administrator. */
  readonly kubeconfig: string
  /** Of the account with the rights in the manifest. */
  readonly workerKubeconfig: string
  /** The sandbox image on the node. */
  readonly image: string

  private constructor(
    lock: ClusterLock,
    folder: string,
    { kubeconfig, workerKubeconfig, image }: Pick<OneNodeCluster, 'kubeconfig' | 'workerKubeconfig' | 'image'>,
  ) {
    this.#lock = lock
    this.#folder = folder
    this.kubeconfig = kubeconfig
    this.workerKubeconfig = workerKubeconfig
    this.image = image
  }

  /** Waits until no other cluster for tests runs on this machine: they have the same ports. */
  static async start(): Promise<OneNodeCluster> {
    const { programs, pause } = await buildClusterBinaries()
    const lock = await ClusterLock.acquire()
    const folder = await mkdtemp(join(tmpdir(), 'ptc-kubernetes-'))
    try {
      const left = await lock.takeFolder(folder)
      if (left !== undefined) await run(script, ['down', left])
      const { stdout } = await run(script, ['up', folder, programs, pause])
      const kubeconfig = stdout.trim()
      const image = await loadSandboxImage(folder)
      const kubectl = (...args: readonly string[]) => run('kubectl', ['--kubeconfig', kubeconfig, ...args])
      await kubectl('create', 'namespace', 'durable-ptc')
      await kubectl('apply', '--filename', manifest)
      const token = await kubectl('--namespace', 'durable-ptc', 'create', 'token', 'worker-sandbox', '--duration=24h')
      const worker = join(folder, 'worker.kubeconfig')
      await writeFile(worker, await workerConfig(kubeconfig, token.stdout.trim()))
      return new OneNodeCluster(lock, folder, { kubeconfig, workerKubeconfig: worker, image })
    } catch (error) {
      await run(script, ['down', folder])
      await lock.release()
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

  /** The names of the pods of sessions that are not being removed. */
  async sessionPods(): Promise<readonly string[]> {
    const output = await this.kubectl('--namespace', sandboxNamespace, 'get', 'pods', '--output', 'json')
    return podList
      .parse(JSON.parse(output))
      .items.filter(({ metadata }) => metadata.labels['ptc.kind'] === 'session' && !metadata.deletionTimestamp)
      .map(({ metadata }) => metadata.name)
  }

  /** The names of the pods of a run, those that are being removed included. */
  async podsOf(workflowId: string): Promise<readonly string[]> {
    const output = await this.kubectl('--namespace', sandboxNamespace, 'get', 'pods', '--output', 'json')
    return podList
      .parse(JSON.parse(output))
      .items.filter(({ metadata }) => metadata.annotations['ptc.workflow'] === workflowId)
      .map(({ metadata }) => metadata.name)
  }

  /** @param graceSeconds 0: the object goes at once, and its processes end later. Default: that of the pod */
  async deletePod(name: string, graceSeconds?: 0): Promise<void> {
    const grace = graceSeconds === undefined ? [] : ['--force', `--grace-period=${graceSeconds}`]
    await this.kubectl('--namespace', sandboxNamespace, 'delete', 'pod', name, ...grace)
  }

  /** Runs a program in a pod, as its user. */
  async exec(pod: string, ...command: readonly string[]): Promise<void> {
    await this.kubectl('--namespace', sandboxNamespace, 'exec', pod, '--', ...command)
  }

  /** Lets the node take no new pod, and evicts all. */
  async drain(): Promise<void> {
    await this.kubectl('drain', nodeName, '--force', '--delete-emptydir-data', '--timeout=60s')
  }

  /** Lets the node take pods again. */
  async uncordon(): Promise<void> {
    await this.kubectl('uncordon', nodeName)
  }

  /** Sends a signal to a program of the cluster. */
  async signal(program: ClusterProgram, signal: NodeJS.Signals): Promise<void> {
    process.kill(Number(await readFile(join(this.#folder, 'pid', program), 'utf8')), signal)
  }

  /** kill -9 of a program of the cluster. */
  async kill(program: ClusterProgram): Promise<void> {
    await this.signal(program, 'SIGKILL')
  }

  /** Starts a program that was killed, and waits until it answers. */
  async startProgram(program: ClusterProgram): Promise<void> {
    await run(script, ['start', this.#folder, program])
  }

  /** The address of the API server: host and port. */
  async apiAddress(): Promise<string> {
    const server = await this.kubectl('config', 'view', '--output', 'jsonpath={.clusters[0].cluster.server}')
    return new URL(server).host
  }

  /** A kubeconfig of workers that reaches the API server by another address, such as that of a proxy. */
  async workerKubeconfigBy(address: string): Promise<string> {
    const path = join(this.#folder, `worker-${address.replaceAll(/[^0-9]/g, '-')}.kubeconfig`)
    const config = await readFile(this.workerKubeconfig, 'utf8')
    await writeFile(path, config.replaceAll(await this.apiAddress(), address))
    return path
  }

  /** Replaces the network of new pods by one in which they reach this machine; the returned function undoes it. */
  async routeNetwork(): Promise<() => Promise<void>> {
    const [name = ''] = await readdir(join(this.#folder, 'cni'))
    const path = join(this.#folder, 'cni', name)
    const original = await readFile(path, 'utf8')
    await writeFile(path, original.replace('"isGateway": false', '"isGateway": true, "isDefaultGateway": true'))
    return () => writeFile(path, original)
  }

  /** Puts an image on the node whose interpreter is for another processor. Returns its name. */
  async loadForeignImage(): Promise<string> {
    const image = 'durable-ptc-test-foreign:1'
    const archive = pack()
    archive.entry({ name: 'usr/bin/python3', mode: 0o755 }, foreignProgram())
    archive.finalize()
    const load = spawn('docker', ['import', '-', image], { stdio: ['pipe', 'ignore', 'inherit'] })
    const ended = once(load, 'exit')
    await pipeline(archive, load.stdin)
    await ended
    try {
      return await this.loadImage(image)
    } finally {
      await run('docker', ['rmi', image])
    }
  }

  async stop(): Promise<void> {
    try {
      await run(script, ['down', this.#folder])
    } finally {
      await this.#lock.release()
    }
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

/** The header of an ELF program for IBM S/390, which no machine of these tests is. */
function foreignProgram(): Buffer {
  const header = Buffer.alloc(64)
  header.write('\x7FELF', 'latin1')
  header.set([2, 2, 1], 4)
  header.writeUInt16BE(2, 16)
  header.writeUInt16BE(22, 18)
  return header
}

async function workerConfig(adminConfig: string, token: string): Promise<string> {
  const args = ['--kubeconfig', adminConfig, 'config', 'view', '--raw', '--flatten', '--output', 'json']
  const { stdout } = await run('kubectl', args)
  const config = JSON.parse(stdout) as { users: unknown[]; contexts: { context: { user: string } }[] }
  const user = config.contexts[0]?.context.user
  return JSON.stringify({ ...config, users: [{ name: user, user: { token } }] })
}
