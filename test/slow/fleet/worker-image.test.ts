import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import { createDataConverter, createPtcClient } from '../../../src/client/index.js'
import { composeServices, deployTools, root, runTool } from '../../support/deploy/tools.js'
import { buildNetwork, docker, makeNodeImage, run } from '../../support/deploy/worker-image.js'
import { WorkerProcess } from '../../support/environment/worker-process.js'
import { temporaryFolder } from '../../support/folders.js'
import { s3Available, S3Server } from '../../support/s3/s3-server.js'
import { connectClient, sharedServer } from '../../support/temporal/shared-server.js'

const [hasS3, tools] = await Promise.all([s3Available, deployTools])

const workerImage = 'durable-ptc-test-worker'

/** `docker compose build`, with the network and the base of this machine, and the image under a name of the test. */
async function composeBuild(): Promise<void> {
  const node = await makeNodeImage(`${workerImage}-node`)
  onTestFinished(async () => void (await docker('rmi', '--force', workerImage)))
  const built = Object.entries(await composeServices()).filter(([, { build }]) => build !== undefined)
  const network = buildNetwork === undefined ? {} : { build: { network: buildNetwork } }
  const services = Object.fromEntries(built.map(([name]) => [name, { image: workerImage, ...network }]))
  const override = join(await temporaryFolder(), 'override.yml')
  await writeFile(override, JSON.stringify({ services }))
  const files = ['--file', join(root, 'docker-compose.yml'), '--file', override]
  await runTool('docker-compose', [...files, 'build'], node === undefined ? {} : { NODE_IMAGE: node })
}

it.skipIf(!hasS3 || !tools || inject('docker') !== 'available')(
  'the image that Docker Compose builds is a worker of its project, without rights and on a read-only disk',
  async () => {
    await composeBuild()

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

    // `ptc` is on the path, and the optional packages are there.
    expect(await docker('exec', container, 'ptc', '--version')).toMatch(/^\d+\.\d+\.\d+$/)
    const imports = 'await Promise.all(process.argv.slice(1).map((name) => import(name)))'
    const packages = [
      '@ai-sdk/google',
      '@ai-sdk/amazon-bedrock',
      '@anthropic-ai/bedrock-sdk',
      '@kubernetes/client-node',
      'ws',
    ]
    await docker('exec', container, 'node', '--input-type=module', '--eval', imports, ...packages)

    await docker('stop', '--time', '40', container)
    const state = await docker('inspect', '--format', '{{.State.ExitCode}} {{.State.OOMKilled}}', container)
    expect(state).toBe('0 false')
    // The image has the bundle of the workflows.
    expect(await run('sh', '-c', `docker logs ${container} 2>&1`)).not.toMatch(/webpack/i)
  },
  // The build takes minutes.
  20 * 60_000,
)
