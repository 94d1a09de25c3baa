import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { resolveTemporal } from '../../../src/dev-server/index.js'
import { sharedServer } from '../../support/temporal/shared-server.js'
import { startTestServer } from '../../support/dev-server/dev-server-fixtures.js'
import { temporaryFolder } from '../../support/folders.js'
import { unusedAddress } from '../../support/unused-address.js'

const quiet = { onProgress: () => {} }

test('finds no server without settings and without a running dev server', async () => {
  const environment = { HOME: await temporaryFolder() }
  expect(await resolveTemporal({ ...quiet, environment, stateDirectory: await temporaryFolder() })).toBeUndefined()
  expect(await resolveTemporal({ ...quiet, environment })).toBeUndefined()
})

test('TEMPORAL_ADDRESS takes precedence over a dev server of the state directory', async () => {
  const stateDirectory = await temporaryFolder()
  const running = await startTestServer({ stateDirectory })
  const { address } = sharedServer()
  const environment = { HOME: await temporaryFolder() }
  const lines: string[] = []

  const configured = await resolveTemporal({
    stateDirectory,
    environment: { ...environment, TEMPORAL_ADDRESS: address },
    onProgress: (line) => void lines.push(line),
  })
  expect(configured).toMatchObject({ address, namespace: 'default', origin: 'configured' })
  expect(lines).toEqual([`Temporal: ${address}, namespace default (configured)`])

  const found = await resolveTemporal({ ...quiet, stateDirectory, environment })
  expect(found).toMatchObject({ address: running.address, origin: 'running' })
})

test('a profile of temporal.toml selects the server', async () => {
  const { address } = sharedServer()
  const file = join(await temporaryFolder(), 'temporal.toml')
  writeFileSync(file, `[profile.team]\naddress = "${address}"\nnamespace = "default"\n`)
  const environment = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'team' }
  expect(await resolveTemporal({ ...quiet, environment })).toMatchObject({ address, origin: 'configured' })
})

test('a configured server that does not answer is an error and is not replaced', async () => {
  const stateDirectory = await temporaryFolder()
  const environment = { HOME: stateDirectory, TEMPORAL_ADDRESS: unusedAddress }
  await expect(resolveTemporal({ ...quiet, environment, stateDirectory })).rejects.toMatchObject({
    code: 'TEMPORAL_UNREACHABLE',
    message: expect.stringContaining(`Temporal at ${unusedAddress}, namespace default, can't be used`) as string,
    hint: expect.stringContaining('ptc dev') as string,
  })
})

test('a namespace that the configured server does not have is an error', async () => {
  const environment = { HOME: '/', TEMPORAL_ADDRESS: sharedServer().address, TEMPORAL_NAMESPACE: 'nowhere' }
  await expect(resolveTemporal({ ...quiet, environment })).rejects.toThrow(/^Temporal at .* has no namespace nowhere$/)
})

test('invalid settings are an error that names their location', async () => {
  const file = join(await temporaryFolder(), 'temporal.toml')
  writeFileSync(file, '[profile.default\n')
  await expect(resolveTemporal({ ...quiet, environment: { TEMPORAL_CONFIG_FILE: file } })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  })
})
