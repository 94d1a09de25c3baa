import { randomBytes } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { createDataConverter, createPtcClient, type PtcClient } from '../../src/client/index.js'
import type { EncryptionOption } from '../../src/values/encryption/option.js'
import { type ProcessResult, TestProject } from './cli/ptc.js'
import type { TestEnvironment } from './environment/test-environment.js'
import { connectClient, sharedServer } from './temporal/shared-server.js'

/** A random key in the form that `encryption.key` returns. */
export function randomKey(): string {
  return randomBytes(32).toString('base64')
}

/** A client of the same runs with other keys, or none. */
export async function clientWith(env: TestEnvironment, encryption?: EncryptionOption): Promise<PtcClient> {
  const store = { kind: 'local', directory: env.valuesDirectory } as const
  const client = await connectClient(await createDataConverter(store, { encryption }))
  onTestFinished(() => client.connection.close())
  return createPtcClient({ client, taskQueue: env.taskQueue })
}

/** A project of the command-line interface for the runs of an environment, with `key` as the key `k1`. */
export function projectWith(env: TestEnvironment, key: string): Promise<TestProject> {
  const config = `import { defineConfig } from 'durable-ptc'
export default defineConfig({
  tools: [],
  sandbox: { backend: 'wasm', warm: 0 },
  taskQueue: '${env.taskQueue}',
  values: { store: { kind: 'local', directory: '${env.valuesDirectory}' } },
  encryption: { currentKeyId: 'k1', key: (id) => (id === 'k1' ? process.env.SECRET_K1 : undefined) },
})
`
  const { address, namespace } = sharedServer()
  const environment = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, SECRET_K1: key }
  return TestProject.create({ 'ptc.config.js': config }, environment)
}

/**
 * The output of `ptc show`.
 *
 * @param key k1; undefined: the configuration is not loaded
 */
export async function show(env: TestEnvironment, workflowId: string, key?: string): Promise<ProcessResult> {
  await using project = await projectWith(env, key ?? '')
  const named = key === undefined ? [] : ['--config', 'ptc.config.js']
  return await project.run('show', workflowId, '--full', ...named)
}
