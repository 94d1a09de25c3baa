import { execFile } from 'node:child_process'
import { copyFile, cp, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, it, onTestFinished } from 'vitest'
import { createDataConverter, createPtcClient } from '../../../src/client/index.js'
import { root } from '../../support/deploy/tools.js'
import { WorkerProcess } from '../../support/environment/worker-process.js'
import { temporaryFolder } from '../../support/folders.js'
import { s3Available, S3Server } from '../../support/s3/s3-server.js'
import { connectClient, sharedServer } from '../../support/temporal/shared-server.js'

const hasS3 = await s3Available

const run = async (command: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { maxBuffer: 64 * 1024 * 1024 })).stdout.trim()

const docker = (...args: readonly string[]): Promise<string> => run('docker', ...args)

/** The image comes from a registry, or is made here: `PTC_BASE_IMAGE` with the Node.js and the npm of this process. */
async function nodeImageArguments(): Promise<readonly string[]> {
  const base = process.env['PTC_BASE_IMAGE']
  if (base === undefined) return []
  const folder = await temporaryFolder()
  const npm = dirname(dirname(await realpath((await run('which', 'npm')) || 'npm')))
  await copyFile(process.execPath, join(folder, 'node'))
  await cp(npm, join(folder, 'npm'), { recursive: true })
  const certificates = process.env['NODE_EXTRA_CA_CERTS']
  if (certificates !== undefined) await copyFile(certificates, join(folder, 'npm', 'certificates.pem'))
  const lines = [
    `FROM ${base}`,
    'COPY node /usr/local/bin/node',
    'COPY npm /usr/local/lib/node_modules/npm',
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
    `ENV npm_config_registry=${await run('npm', 'config', 'get', 'registry')}`,
    ...(certificates === undefined ? [] : ['ENV NODE_EXTRA_CA_CERTS=/usr/local/lib/node_modules/npm/certificates.pem']),
  ]
  await writeFile(join(folder, 'Dockerfile'), lines.join('\n'))
  await docker('build', '--quiet', '--network', 'none', '--tag', nodeImage, folder)
  return ['--build-arg', `NODE_IMAGE=${nodeImage}`]
}

const nodeImage = 'durable-ptc-test-node'
const workerImage = 'durable-ptc-test-worker'

it.skipIf(!hasS3 || inject('docker') !== 'available')(
  'the image of deploy/Dockerfile is a worker of its project, without rights and on a read-only disk',
  async () => {
    onTestFinished(async () => void (await docker('rmi', '--force', workerImage, nodeImage)))
    const network = process.env['PTC_BUILD_NETWORK']
    const options = [...(await nodeImageArguments()), ...(network === undefined ? [] : ['--network', network])]
    await docker('build', ...options, '--file', join(root, 'deploy/Dockerfile'), '--tag', workerImage, root)

    const store = await S3Server.start()
    onTestFinished(() => store.close())
    const { bucket } = store.settings()
    const { address, namespace } = sharedServer()
    const environment = {
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      S3_ENDPOINT: store.endpoint,
      S3_BUCKET: bucket,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: process.env['AWS_ACCESS_KEY_ID'] ?? '',
      AWS_SECRET_ACCESS_KEY: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
      AUDIT_FILE: '/var/lib/durable-ptc/audit.jsonl',
      PTC_HEALTH_ADDRESS: '127.0.0.1:0',
      PTC_METRICS_ADDRESS: '127.0.0.1:0',
    }
    const variables = Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    // The rights are those of docker-compose.yml.
    const rights = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges']
    const volume = ['--volume', '/var/lib/durable-ptc']
    const flags = ['--detach', '--network', 'host', ...rights, ...volume, ...variables]
    const container = await docker('run', ...flags, workerImage, 'worker', '--roles', 'workflow,tools')
    onTestFinished(async () => void (await docker('rm', '--force', '--volumes', container)))
    const sandbox = await WorkerProcess.start({
      config: join(root, 'examples/fleet/ptc.config.ts'),
      taskQueue: 'fleet',
      roles: ['sandbox'],
      environment: { ...environment, AUDIT_FILE: '' },
    })
    onTestFinished(() => sandbox.kill())

    const settings = { kind: 's3', bucket, endpoint: store.endpoint, forcePathStyle: true } as const
    const client = await connectClient(await createDataConverter(settings))
    onTestFinished(() => client.connection.close())
    const ptc = createPtcClient({ client, taskQueue: 'fleet' })
    const program = await ptc.startProgram({ source: 'print(sum(await get_expenses(employee="ada")))' })
    expect(await program.result()).toMatchObject({ outcome: { status: 'ok', output: '6340\n' } })
    expect(await docker('exec', container, 'cat', environment.AUDIT_FILE)).toContain('"type":"call.started"')
    expect(await docker('exec', container, 'id', '-u')).toBe('65532')
    await expect(docker('exec', container, 'touch', '/app/x')).rejects.toThrow('Read-only file system')

    await docker('stop', '--time', '40', container)
    const state = await docker('inspect', '--format', '{{.State.ExitCode}} {{.State.OOMKilled}}', container)
    expect(state).toBe('0 false')
    // The image has the bundle of the workflows.
    expect(await run('sh', '-c', `docker logs ${container} 2>&1`)).not.toMatch(/webpack/i)
  },
)
