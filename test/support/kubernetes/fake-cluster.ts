import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import type { V1Container, V1Pod, V1PodStatus } from '@kubernetes/client-node'
import { type WebSocket, WebSocketServer } from 'ws'
import { installFolder } from '../../../src/languages/index.js'
import { runnerDirectory } from '../../../src/sandbox/runner-directory.js'

/** What the cluster answers instead of doing what a request asks for. */
export interface Refusal {
  readonly status: number
  readonly message: string
}

interface FakePod {
  pod: V1Pod
  process: ChildProcess | undefined
  readonly sockets: Set<WebSocket>
}

export interface FakeClusterOptions {
  /** The digest of the runners that the probe reports, where pods are processes. */
  readonly runnerDigest?: string
  /** Pods are hardened containers of the Docker daemon with this image. Default: processes of this machine. */
  readonly image?: string
}

/**
 * The API of Kubernetes as far as the backend uses it. The containers of its pods are processes of this machine, without
 * any isolation, or containers of Docker. It loses the output of attached connections as a cluster does.
 */
export class FakeCluster {
  readonly pods = new Map<string, FakePod>()
  readonly folder = mkdtempSync(join(tmpdir(), 'ptc-fake-cluster-'))
  readonly #server = createServer((request, response) => void this.#handle(request, response))
  readonly #webSockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'v5.channel.k8s.io' })
  readonly #watches = new Set<{ readonly name: string | undefined; readonly response: ServerResponse }>()
  /** Requests so far, as `POST pods`. */
  readonly requests: string[] = []
  /** Refuses a request; undefined: it is done. */
  refuse: (request: string, query: URLSearchParams) => Refusal | undefined = () => undefined
  /** Verbs and resources that the account does not have. */
  deniedRights: readonly string[] = []
  /** The status of new pods in place of a process. */
  statusOfNewPods: ((pod: V1Pod) => V1PodStatus | undefined) | undefined
  /** What the probe of isolation finds. */
  report: Readonly<Record<string, unknown>> = {}
  readonly #options: FakeClusterOptions

  private constructor(options: FakeClusterOptions) {
    this.#options = options
  }

  static async start(options: FakeClusterOptions): Promise<FakeCluster> {
    const cluster = new FakeCluster(options)
    cluster.#server.on('upgrade', (request, socket, head) => {
      cluster.#webSockets.handleUpgrade(request, socket, head, (client) => cluster.#attach(request, client))
    })
    cluster.#server.listen(0, '127.0.0.1')
    await once(cluster.#server, 'listening')
    cluster.writeConfig()
    return cluster
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get kubeconfig(): string {
    return join(this.folder, 'config')
  }

  /** @param user its credentials in the kubeconfig */
  writeConfig(server = this.url, user: object = { token: 'token' }): void {
    const config = {
      clusters: [{ name: 'fake', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'fake', user }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'fake' } }],
      'current-context': 'fake',
    }
    writeFileSync(this.kubeconfig, JSON.stringify(config))
  }

  /** Breaks all attached connections. */
  cutConnections(): void {
    for (const { sockets } of this.pods.values()) for (const socket of sockets) socket.terminate()
  }

  /** Ends the process of a pod, as the kernel or the cluster does. */
  kill(name: string, status: Partial<V1PodStatus> = {}): void {
    const found = this.pods.get(name)
    if (found === undefined) throw new Error(`no pod ${name}`)
    found.pod.status = Object.assign({}, found.pod.status, status)
    found.process?.kill('SIGKILL')
  }

  get sessionPods(): readonly string[] {
    return [...this.pods.values()].flatMap(({ pod: { metadata } }) =>
      metadata?.name !== undefined && metadata.labels?.['ptc.kind'] === 'session' ? [metadata.name] : [],
    )
  }

  /** Workers keep what an image has, by its id. */
  get #imageId(): string {
    const { image, runnerDigest = '' } = this.#options
    return image ?? `sha256:${runnerDigest}`
  }

  async stop(): Promise<void> {
    for (const { process } of this.pods.values()) process?.kill('SIGKILL')
    // The client of a container ends without it.
    const containers = [...this.pods.values()].map(({ pod }) => `${pod.metadata?.uid}`)
    if (this.#options.image !== undefined && containers.length > 0)
      spawnSync('docker', ['rm', '--force', ...containers.flatMap((uid) => [`${uid}-sandbox`, `${uid}-files`])])
    for (const { response } of this.#watches) response.destroy()
    for (const client of this.#webSockets.clients) client.terminate()
    this.#server.closeAllConnections()
    this.#server.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://cluster')
    const [, kind = '', name] = /\/namespaces\/[^/]+\/([^/]+)(?:\/([^/]+))?$/.exec(url.pathname) ?? [
      '',
      url.pathname.split('/').at(-1),
    ]
    const isWatch = url.searchParams.get('watch') === 'true'
    const what = `${isWatch ? 'WATCH' : request.method} ${kind}`
    this.requests.push(what)
    const refused = this.refuse(what, url.searchParams)
    if (refused) return fail(response, refused)
    if (kind === 'version') return send(response, 200, { gitVersion: 'v1.0.0-fake', major: '1', minor: '0' })
    if (kind === 'selfsubjectaccessreviews') {
      const { spec } = (await json(request)) as { readonly spec: { readonly resourceAttributes: Right } }
      const { verb, resource, subresource } = spec.resourceAttributes
      const right = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`
      return send(response, 201, { spec, status: { allowed: !this.deniedRights.includes(right) } })
    }
    if (isWatch) return this.#watch(url.searchParams, response)
    if (request.method === 'POST') return this.#create((await json(request)) as V1Pod, url.searchParams, response)
    if (name === undefined) return send(response, 200, { items: [...this.pods.values()].map(({ pod }) => pod) })
    const found = this.pods.get(name)
    if (found === undefined) return fail(response, { status: 404, message: `pods "${name}" not found` })
    if (request.method === 'GET') return send(response, 200, found.pod)
    const body = (await json(request).catch(() => ({}))) as { readonly preconditions?: { readonly uid?: string } }
    const uid = body.preconditions?.uid
    if (uid !== undefined && uid !== found.pod.metadata?.uid)
      return fail(response, { status: 409, message: 'another uid' })
    send(response, 200, found.pod)
    this.#delete(name, found)
  }

  #create(body: V1Pod, query: URLSearchParams, response: ServerResponse): void {
    const name = body.metadata?.name ?? ''
    if (this.pods.has(name)) return fail(response, { status: 409, message: `pods "${name}" already exists` })
    const creationTimestamp = new Date().toISOString() as unknown as Date
    const metadata = Object.assign({}, body.metadata, { uid: randomUUID(), creationTimestamp })
    const pod: V1Pod = Object.assign({}, body, { metadata, status: {} })
    send(response, 201, pod)
    if (query.has('dryRun')) return
    const entry: FakePod = { pod, process: undefined, sockets: new Set() }
    this.pods.set(name, entry)
    const status = this.statusOfNewPods?.(pod)
    if (status === undefined) this.#run(entry)
    else pod.status = status
    this.#notify('ADDED', pod)
  }

  #run(entry: FakePod): void {
    const { pod } = entry
    if (pod.spec?.schedulingGates !== undefined) return void (pod.status = { phase: 'Pending' })
    const isProbe = pod.spec?.containers[0]?.command?.includes('--probe') === true
    const { image, runnerDigest } = this.#options
    if (isProbe && image === undefined)
      return this.#end(entry, 0, JSON.stringify({ ...goodReport, runner: runnerDigest, ...this.report }))
    this.#runContainer(entry, [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])])
  }

  /** Runs the first of these containers, and the others after it. */
  #runContainer(entry: FakePod, [container, ...later]: readonly V1Container[]): void {
    if (container === undefined) return
    const { pod } = entry
    const { image } = this.#options
    const process =
      image === undefined ? spawnProcess(container, this.folder) : spawnContainer(pod, container, image, this.folder)
    entry.process = process
    process.stdin.on('error', () => undefined)
    process.stderr.resume()
    process.stdout.on('data', (bytes: Buffer) => {
      for (const socket of entry.sockets) socket.send(Buffer.concat([Uint8Array.of(1), bytes]))
    })
    process.once('exit', (code, signal) => {
      for (const socket of entry.sockets) socket.close(1000)
      if (code === 0 && later.length > 0) {
        this.#runContainer(entry, later)
        return this.#notify('MODIFIED', pod)
      }
      // A cluster knows the end later than the connections.
      const log = terminationLog(pod, this.folder)
      const message = existsSync(log) ? readFileSync(log, 'utf8') : undefined
      setTimeout(() => this.#end(entry, code ?? (signal === 'SIGKILL' ? 137 : 143), message), 50)
    })
    const running = [statusOf(this.#imageId, { running: {} })]
    const initializing = {
      initContainerStatuses: running,
      containerStatuses: [statusOf('', { waiting: { reason: 'PodInitializing' } })],
    }
    pod.status =
      later.length > 0 ? { phase: 'Pending', ...initializing } : { phase: 'Running', containerStatuses: running }
  }

  #end(entry: FakePod, exitCode: number, message?: string): void {
    const { pod } = entry
    const reason = pod.status?.containerStatuses?.[0]?.state?.terminated?.reason
    const terminated = {
      exitCode,
      finishedAt: new Date().toISOString() as unknown as Date,
      ...(message && { message }),
      ...(reason && { reason }),
    }
    const ended = { phase: 'Failed', containerStatuses: [statusOf(this.#imageId, { terminated })] }
    pod.status = Object.assign({}, pod.status, ended)
    if (this.pods.get(pod.metadata?.name ?? '') === entry) this.#notify('MODIFIED', pod)
  }

  #delete(name: string, entry: FakePod): void {
    const { process, pod } = entry
    const deletionTimestamp = new Date().toISOString() as unknown as Date
    pod.metadata = Object.assign({}, pod.metadata, { deletionTimestamp })
    this.#notify('MODIFIED', pod)
    const remove = (): void => {
      if (this.pods.get(name) !== entry) return
      this.pods.delete(name)
      this.#notify('DELETED', pod)
    }
    if (process === undefined || isEnded(process)) return remove()
    // A signal ends the client of a container, which passes it on.
    process.kill('SIGTERM')
    process.once('exit', () => setTimeout(remove, 100))
  }

  #attach(request: IncomingMessage, socket: WebSocket): void {
    const name = /pods\/([^/]+)\/attach/.exec(request.url ?? '')?.[1] ?? ''
    const entry = this.pods.get(name)
    this.requests.push('ATTACH pods')
    // As a cluster: the connection is opened, and closed at once.
    if (!entry?.process || isEnded(entry.process)) return socket.close(1000)
    entry.sockets.add(socket)
    socket.once('close', () => entry.sockets.delete(socket))
    socket.on('message', (message: Buffer) => entry.process?.stdin?.write(message.subarray(1)))
  }

  #watch(query: URLSearchParams, response: ServerResponse): void {
    const name = /metadata\.name=(.*)/.exec(query.get('fieldSelector') ?? '')?.[1]
    response.writeHead(200, { 'Content-Type': 'application/json' })
    response.flushHeaders()
    const watch = { name, response }
    this.#watches.add(watch)
    response.once('close', () => this.#watches.delete(watch))
    for (const { pod } of this.pods.values()) this.#notifyOne(watch, 'ADDED', pod)
  }

  #notify(type: string, pod: V1Pod): void {
    for (const watch of this.#watches) this.#notifyOne(watch, type, pod)
  }

  #notifyOne(
    { name, response }: { readonly name: string | undefined; readonly response: ServerResponse },
    type: string,
    pod: V1Pod,
  ): void {
    if (name === undefined || name === pod.metadata?.name) response.write(`${JSON.stringify({ type, object: pod })}\n`)
  }
}

function spawnProcess(container: V1Container, folder: string): ChildProcessWithoutNullStreams {
  const runners = `${runnerDirectory.replace(/\/$/, '')}/`
  const command = (container.command ?? []).map((text) => text.replaceAll(`${installFolder}/`, runners))
  const env = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]))
  const limit = `--data=${container.resources?.limits?.['memory'] ?? ''}`
  return spawn('prlimit', [limit, ...command], { cwd: folder, env: { ...env, KUBERNETES_SERVICE_HOST: '10.0.0.1' } })
}

/** The settings of the pod, as options of Docker. */
function spawnContainer(
  pod: V1Pod,
  container: V1Container,
  image: string,
  folder: string,
): ChildProcessWithoutNullStreams {
  const { runAsUser, runAsGroup } = pod.spec?.securityContext ?? {}
  const { memory = '', cpu = '' } = container.resources?.limits ?? {}
  writeFileSync(terminationLog(pod, folder), '')
  chmodSync(terminationLog(pod, folder), 0o666)
  const mounts = (container.volumeMounts ?? []).map(({ name, mountPath, readOnly }) => {
    if (name === 'files') {
      // Both containers of the pod have it.
      const shared = join(folder, `${pod.metadata?.uid}.files`)
      mkdirSync(shared, { recursive: true })
      chmodSync(shared, 0o777)
      return `--volume=${shared}:${mountPath}${readOnly === true ? ':ro' : ''}`
    }
    const size = pod.spec?.volumes?.find((volume) => volume.name === name)?.emptyDir?.sizeLimit
    return `--tmpfs=${mountPath}:rw,exec,mode=777,size=${size}${readOnly === true ? ',ro' : ''}`
  })
  const env = (container.env ?? []).map(({ name, value = '' }) => `--env=${name}=${value.replaceAll('$$', '$')}`)
  return spawn('docker', [
    'run',
    '--interactive',
    '--rm',
    '--init=false',
    `--name=${pod.metadata?.uid}-${container.name}`,
    '--network=none',
    '--read-only',
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    `--user=${runAsUser}:${runAsGroup}`,
    `--memory=${memory}`,
    `--memory-swap=${memory}`,
    `--cpus=${cpu}`,
    `--hostname=${pod.spec?.hostname}`,
    `--workdir=${container.workingDir}`,
    `--volume=${terminationLog(pod, folder)}:/dev/termination-log`,
    '--entrypoint=',
    ...mounts,
    ...env,
    image,
    ...(container.command ?? []).map((text) => text.replaceAll('$$', '$')),
  ])
}

function terminationLog(pod: V1Pod, folder: string): string {
  return join(folder, `${pod.metadata?.uid}.termination`)
}

function isEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

interface Right {
  readonly verb: string
  readonly resource: string
  readonly subresource?: string
}

const goodReport = {
  relay: 1,
  runner: '',
  reached: [],
  status: { Uid: '1 1 1 1', CapEff: '0000000000000000', CapBnd: '0000000000000000', NoNewPrivs: '1', Seccomp: '2' },
  memoryBytes: 256 << 20,
  canLimitProcesses: true,
  canWriteRoot: false,
  hasToken: false,
}

function statusOf(imageID: string, state: NonNullable<NonNullable<V1PodStatus['containerStatuses']>[number]['state']>) {
  return { name: 'sandbox', image: 'image', imageID, ready: true, restartCount: 0, state }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

function fail(response: ServerResponse, { status, message }: Refusal): void {
  send(response, status, { kind: 'Status', status: 'Failure', message, code: status })
}
