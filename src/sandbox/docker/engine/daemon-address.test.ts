import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../../../../test/support/folders.js'
import { findDaemon } from './daemon-address.js'
import { DockerEngine } from './docker-engine.js'

const digest = (name: string): string => createHash('sha256').update(name).digest('hex')

/** Creates a home folder with these contexts, in the format of the docker CLI. */
async function homeWith(contexts: Record<string, unknown>, config?: unknown) {
  const home = await temporaryFolder()
  const docker = join(home, '.docker')
  for (const [name, host] of Object.entries(contexts)) {
    await mkdir(join(docker, 'contexts', 'meta', digest(name)), { recursive: true })
    const meta = { Name: name, Metadata: {}, Endpoints: { docker: { Host: host, SkipTLSVerify: false } } }
    await writeFile(join(docker, 'contexts', 'meta', digest(name), 'meta.json'), JSON.stringify(meta))
  }
  await mkdir(docker, { recursive: true })
  if (config !== undefined) await writeFile(join(docker, 'config.json'), JSON.stringify(config))
  return { docker, environment: { HOME: home } }
}

const invalid = (message: string) => expect.objectContaining({ code: 'CONFIG_INVALID', message })

test('the address of the daemon is from the context that `docker context use` chose', async () => {
  const { environment } = await homeWith({ remote: 'unix:///run/other.sock' }, { currentContext: 'remote', auths: {} })
  expect(findDaemon(environment)).toEqual({
    options: { socketPath: '/run/other.sock' },
    host: 'unix:///run/other.sock',
    usesTls: false,
    context: 'remote',
  })
})

test('DOCKER_HOST comes before DOCKER_CONTEXT, and DOCKER_CONTEXT before the configuration', async () => {
  const { environment, docker } = await homeWith(
    { one: 'unix:///run/one.sock', two: 'unix:///run/two.sock' },
    { currentContext: 'one' },
  )
  expect(findDaemon({ ...environment, DOCKER_CONTEXT: 'two' })).toMatchObject({ context: 'two' })
  expect(findDaemon({ ...environment, DOCKER_CONTEXT: '' })).toMatchObject({ context: 'one' })
  expect(findDaemon({ ...environment, DOCKER_CONTEXT: 'default' })).not.toHaveProperty('context')
  const DOCKER_HOST = 'unix:///run/three.sock'
  expect(findDaemon({ ...environment, DOCKER_CONTEXT: 'two', DOCKER_HOST })).toEqual({
    options: {},
    host: DOCKER_HOST,
    usesTls: false,
  })
  expect(findDaemon({ HOME: '/nonexistent', DOCKER_CONFIG: docker })).toMatchObject({ context: 'one' })
})

test('there is no Docker context without a configuration, or with a configuration that names none', async () => {
  expect(findDaemon({ HOME: '/nonexistent' })).not.toHaveProperty('context')
  const { environment } = await homeWith({}, { auths: {} })
  expect(findDaemon(environment)).not.toHaveProperty('context')
})

test('the address and certificates of a Docker context on a network are used', async () => {
  const { environment, docker } = await homeWith({ tls: 'tcp://10.0.0.1:2376', plain: 'tcp://10.0.0.1' })
  const folder = join(docker, 'contexts', 'tls', digest('tls'), 'docker')
  await mkdir(folder, { recursive: true })
  for (const name of ['ca', 'cert', 'key']) await writeFile(join(folder, `${name}.pem`), name)
  expect(findDaemon({ ...environment, DOCKER_CONTEXT: 'tls' })).toMatchObject({
    options: { host: '10.0.0.1', port: '2376', protocol: 'https', key: Buffer.from('key') },
    usesTls: true,
  })
  expect(findDaemon({ ...environment, DOCKER_CONTEXT: 'plain' })).toMatchObject({
    options: { host: '10.0.0.1', port: '2375', protocol: 'http' },
    usesTls: false,
  })
})

test('the socket of a rootless daemon is used when there is no other', async () => {
  const home = await temporaryFolder()
  await writeFile(join(home, 'docker.sock'), '')
  const { options } = findDaemon({ HOME: home, XDG_RUNTIME_DIR: home })
  // A machine that runs the tests may have the socket of a system.
  expect([{}, { socketPath: join(home, 'docker.sock') }]).toContainEqual(options)
})

test('Docker contexts that do not exist or can not be used are refused by their name', async () => {
  const { environment, docker } = await homeWith({ remote: 'ssh://host', odd: 'fd://', none: undefined })
  const find = (context: string) => () => findDaemon({ ...environment, DOCKER_CONTEXT: context })
  const path = (name: string) => join(docker, 'contexts', 'meta', digest(name), 'meta.json')
  expect(find('gone')).toThrow(invalid(`the Docker context "gone" can't be used: there is no ${path('gone')}`))
  expect(find('none')).toThrow(invalid(`the Docker context "none" can't be used: ${path('none')} is not readable`))
  expect(find('remote')).toThrow(
    invalid('the host of Docker context "remote", ssh://…, is not supported: host keys would not be checked'),
  )
  expect(find('odd')).toThrow(invalid('the host of Docker context "odd" is not usable: fd://'))
  await writeFile(join(docker, 'config.json'), '{')
  expect(() => findDaemon(environment)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
})

test('an engine connects to the daemon of the context, and names the context after a failure', async () => {
  const { environment } = await homeWith({ mine: '' }, { currentContext: 'mine' })
  const socket = join(environment.HOME, 'docker.sock')
  const meta = join(environment.HOME, '.docker', 'contexts', 'meta', digest('mine'), 'meta.json')
  await writeFile(meta, JSON.stringify({ Endpoints: { docker: { Host: `unix://${socket}` } } }))
  for (const name of ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG']) vi.stubEnv(name, '')
  vi.stubEnv('HOME', environment.HOME)
  onTestFinished(() => void vi.unstubAllEnvs())
  const ping = () => new DockerEngine(5_000).call({ action: 'ask' }, (docker) => docker.ping())
  await expect(ping()).rejects.toMatchObject({
    code: 'SANDBOX_BACKEND_DOWN',
    message: expect.stringContaining('could not ask (Docker context "mine"): connect ENOENT'),
  })
  const server = createServer((_, response) => void response.end('OK')).listen(socket)
  onTestFinished(() => void server.close())
  expect(String(await ping())).toBe('OK')
})
