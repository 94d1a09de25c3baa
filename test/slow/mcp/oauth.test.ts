import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as sdk from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Credentials } from '../../../src/tools/credentials/credentials.js'
import { mcpSource } from '../../../src/tools/sources/mcp/mcp-source.js'
import { type Login, beginLogin } from '../../../src/tools/sources/mcp/oauth/login.js'
import { loginOf } from '../../../src/tools/sources/mcp/oauth/login-of-source.js'
import { openTokenStore } from '../../../src/tools/sources/mcp/oauth/open-token-store.js'
import { mcpOption } from '../../../src/tools/sources/mcp/server-options.js'
import { listTools, noLog } from '../../../src/tools/sources/tool-source.js'
import { KeyRing } from '../../../src/values/encryption/key-ring.js'
import { temporaryFolder } from '../../support/folders.js'
import { callMcpTool } from '../../support/mcp/mcp-tools.js'
import { browse, type OAuthServers, startOAuthServers } from '../../support/mcp/oauth-servers.js'

const redirectUrl = 'http://127.0.0.1:65001/callback'
const { signal } = new AbortController()

interface Options {
  readonly keys?: KeyRing
  readonly credentials?: Credentials
}

/** The source of the protected server in one worker; all of a test share the folder. */
function worker(servers: OAuthServers, directory: string, oauth: object, { keys, credentials }: Options = {}) {
  const parsed = mcpOption.parse({ safe: { url: servers.mcp, approval: 'never', oauth } })['safe']
  if (parsed === undefined) throw new Error('the options are wrong')
  const tokenSettings = { store: { kind: 'local', directory } as const, keys }
  return mcpSource({
    name: 'safe',
    server: parsed,
    credentials: credentials ?? new Credentials(),
    folder: '.',
    openContainer: () => Promise.reject(new Error('a server over HTTP has no container')),
    tokenSettings,
  })
}

async function start(source: ReturnType<typeof worker>) {
  const { tools, close } = await listTools([source], noLog)
  onTestFinished(close)
  return { call: () => callMcpTool(tools, 'safe__who', {}) }
}

async function login(source: ReturnType<typeof worker>): Promise<Login> {
  const begun = await loginOf(source)?.begin(redirectUrl, signal)
  if (!begun) throw new Error('the source needs no login')
  return begun
}

async function logIn(source: ReturnType<typeof worker>): Promise<void> {
  const begun = await login(source)
  const { searchParams } = await browse(begun.url.href, redirectUrl)
  await begun.finish(searchParams, signal)
}

describe('client credentials', () => {
  const secret = () => {
    vi.stubEnv('WORKER_SECRET', 'a-secret-of-the-worker')
    onTestFinished(() => void vi.unstubAllEnvs())
    return new Credentials({ worker_secret: { environment: 'WORKER_SECRET' } })
  }
  const oauth = (issuer: string) => ({ clientId: 'worker', clientSecret: '${worker_secret}', issuer })

  it('give a worker access by itself, and a result has no token', async () => {
    const servers = await startOAuthServers()
    const { call } = await start(
      worker(servers, await temporaryFolder(), oauth(servers.issuer), { credentials: secret() }),
    )
    expect(await call()).toBe('worker with [credential oauth_access_token]')
    expect(await servers.control({})).toMatchObject({ token: 1 })
  })

  it.each([
    ['a refusal', -32_602],
    ['an error with an unknown outcome', -32_603],
  ])('leave no token in the messages of %s, and of its causes', async (_what, callError) => {
    const servers = await startOAuthServers()
    const { call } = await start(
      worker(servers, await temporaryFolder(), oauth(servers.issuer), { credentials: secret() }),
    )
    await servers.control({ callError })
    const thrown = await call().catch((error: unknown) => error)
    expect(thrown).toMatchObject({ message: expect.stringContaining('for [credential oauth_access_token]') })
    expect(thrown).not.toHaveProperty('cause')
  })

  it('are renewed once when many calls find that their token has expired', async () => {
    const servers = await startOAuthServers()
    await servers.control({ ttl: 2 })
    const { call } = await start(
      worker(servers, await temporaryFolder(), oauth(servers.issuer), { credentials: secret() }),
    )
    await call()
    await servers.control({ ttl: 3_600 })
    await expect.poll(async () => (await call(), (await servers.control({})).token), { timeout: 20_000 }).toBe(2)
    const results = await Promise.all(Array.from({ length: 10 }, call))
    expect(new Set(results)).toEqual(new Set(['worker with [credential oauth_access_token]']))
    expect(await servers.control({})).toMatchObject({ token: 2 })
  })

  it('are sent only to the issuer of the configuration', async () => {
    const [servers, others] = [await startOAuthServers(), await startOAuthServers()]
    await servers.control({ otherIssuer: others.issuer })
    const source = worker(servers, await temporaryFolder(), oauth(servers.issuer), { credentials: secret() })
    await expect(start(source)).rejects.toMatchObject({ code: 'TOOL_SOURCE_FAILED' })
    expect(await others.control({})).toMatchObject({ token: 0 })
  })

  it('that the authorization server refuses are a typed failure without the secret', async () => {
    const servers = await startOAuthServers()
    vi.stubEnv('WORKER_SECRET', 'not-the-secret-of-the-worker')
    onTestFinished(() => void vi.unstubAllEnvs())
    const credentials = new Credentials({ worker_secret: { environment: 'WORKER_SECRET' } })
    const source = worker(servers, await temporaryFolder(), oauth(servers.issuer), { credentials })
    await expect(start(source)).rejects.toMatchObject({
      code: 'TOOL_SOURCE_FAILED',
      message: expect.stringContaining('gives no access to worker'),
    })
    await expect(start(source)).rejects.not.toMatchObject({
      message: expect.stringContaining('not-the-secret-of-the-worker'),
    })
  })
})

describe('a login', () => {
  it('gives all workers access, with a registered client and PKCE, and is stored encrypted', async () => {
    const servers = await startOAuthServers()
    const folder = await temporaryFolder()
    const keys = new KeyRing({ currentKeyId: 'one', key: () => randomKey })
    await logIn(worker(servers, folder, {}, { keys }))
    for (const each of [worker(servers, folder, {}, { keys }), worker(servers, folder, {}, { keys })])
      expect(await (await start(each)).call()).toBe('ada with [credential oauth_access_token]')
    expect(await servers.control({})).toMatchObject({ registrations: 1, token: 1 })
    const files = await readdir(folder, { recursive: true, withFileTypes: true })
    const stored = files.filter((each) => each.isFile())
    expect(stored.length).toBeGreaterThan(0)
    for (const { parentPath, name } of stored)
      expect(await readFile(join(parentPath, name), 'latin1')).not.toMatch(/access|127\.0\.0\.1/i)
  })

  it('of nobody is needed before a worker starts, and the message says how', async () => {
    const servers = await startOAuthServers()
    await expect(start(worker(servers, await temporaryFolder(), {}))).rejects.toMatchObject({
      message: expect.stringContaining('because nobody has logged in: ptc mcp login safe'),
    })
  })

  it.each([
    ['another state', { state: 'x' }, 'its state is that of another login'],
    ['no code', { code: '' }, 'it has no code'],
    ['a refusal', { error: 'access_denied' }, 'access_denied'],
  ])('with %s is refused, and stores nothing', async (_what, change, message) => {
    const servers = await startOAuthServers()
    const source = worker(servers, await temporaryFolder(), {})
    const begun = await login(source)
    const { searchParams } = await browse(begun.url.href, redirectUrl)
    for (const [name, value] of Object.entries(change)) searchParams.set(name, value)
    await expect(begun.finish(searchParams, signal)).rejects.toMatchObject({
      code: 'RUN_INPUT_INVALID',
      message: expect.stringContaining(message),
    })
    expect(await servers.control({})).toMatchObject({ token: 0 })
  })

  it('with the issuer of another server in its answer is refused before the code is sent', async () => {
    const servers = await startOAuthServers()
    const begun = await login(worker(servers, await temporaryFolder(), {}))
    const { searchParams } = await browse(begun.url.href, redirectUrl)
    searchParams.set('iss', 'https://evil.example')
    await expect(begun.finish(searchParams, signal)).rejects.toMatchObject({ code: 'TOOL_SOURCE_FAILED' })
    expect(await servers.control({})).toMatchObject({ token: 0 })
  })

  it('at another issuer than that of the configuration is refused', async () => {
    const servers = await startOAuthServers()
    const source = worker(servers, await temporaryFolder(), { issuer: 'https://login.example.com' })
    await expect(login(source)).rejects.toMatchObject({
      message: expect.stringContaining('and the configuration names https://login.example.com'),
    })
  })

  it('sends nothing to an authorization server without https, or in a private network', async () => {
    const servers = await startOAuthServers()
    for (const otherIssuer of ['http://login.example.com', 'https://169.254.169.254', 'https://10.0.0.1']) {
      await servers.control({ otherIssuer })
      await expect(login(worker(servers, await temporaryFolder(), {}))).rejects.toMatchObject({
        message: expect.stringMatching(/refused|https/),
      })
    }
  })
})

describe('the renewal of an access', () => {
  async function loggedIn(ttl: number) {
    const servers = await startOAuthServers()
    await servers.control({ ttl })
    const folder = await temporaryFolder()
    await logIn(worker(servers, folder, {}))
    await servers.control({ ttl: 3_600 })
    return { servers, folder }
  }

  it('is made once for all workers, although the refresh token may be used only once', async () => {
    const { servers, folder } = await loggedIn(1)
    await servers.control({ delayMs: 500 })
    const sources = Array.from({ length: 5 }, () => worker(servers, folder, {}))
    const workers = await Promise.all(sources.map(start))
    const results = await Promise.all(workers.flatMap(({ call }) => [call(), call()]))
    expect(new Set(results)).toEqual(new Set(['ada with [credential oauth_access_token]']))
    expect(await servers.control({})).toMatchObject({ refreshes: 1, calls: 10 })
  })

  it('that fails keeps the access, and the next call renews it', async () => {
    const { servers, folder } = await loggedIn(1)
    await servers.control({ tokenStatus: 503 })
    await expect(start(worker(servers, folder, {}))).rejects.toMatchObject({
      message: expect.stringContaining('could not be renewed'),
    })
    await servers.control({ tokenStatus: 0 })
    expect(await (await start(worker(servers, folder, {}))).call()).toBe('ada with [credential oauth_access_token]')
  })

  it('that is refused ends the access, and a new login gives it again', async () => {
    const { servers, folder } = await loggedIn(1)
    const store = openTokenStore('safe', servers.mcp, { store: { kind: 'local', directory: folder }, keys: undefined })
    const { number, access } = await store.tokens.latest(signal)
    if (!access) throw new Error('there is no access')
    await store.tokens.replace(number, { ...access, refreshToken: 'an-unknown-refresh-token' }, signal)
    await expect(start(worker(servers, folder, {}))).rejects.toMatchObject({
      message: expect.stringContaining('needs a login, because its access has ended: ptc mcp login safe'),
    })
    expect(await store.tokens.latest(signal)).toEqual({ number: number + 2, access: undefined })
    await logIn(worker(servers, folder, {}))
    expect(await (await start(worker(servers, folder, {}))).call()).toBe('ada with [credential oauth_access_token]')
  })

  it('that is refused does not remove a newer access', async () => {
    const { servers, folder } = await loggedIn(3_600)
    const store = openTokenStore('safe', servers.mcp, { store: { kind: 'local', directory: folder }, keys: undefined })
    const { number, access } = await store.tokens.latest(signal)
    if (!access) throw new Error('there is no access')
    expect(await store.tokens.replace(number, { ...access, scope: 'newer' }, signal)).toBe(true)
    expect(await store.tokens.replace(number, undefined, signal)).toBe(false)
    expect((await store.tokens.latest(signal)).access?.scope).toBe('newer')
  })

  it('is taken over when the worker that began it has died', async () => {
    const { servers, folder } = await loggedIn(1)
    const store = openTokenStore('safe', servers.mcp, { store: { kind: 'local', directory: folder }, keys: undefined })
    const { number } = await store.tokens.latest(signal)
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 120_000)
    expect(await store.tokens.lease(number, signal)).toBeDefined()
    now.mockRestore()
    expect(await (await start(worker(servers, folder, {}))).call()).toBe('ada with [credential oauth_access_token]')
  })
})

it('a server with oauth needs https, except on this machine, and a secret needs its issuer', () => {
  const parse = (url: string, oauth: object) => mcpOption.safeParse({ safe: { url, oauth } }).success
  expect(parse('http://example.com/mcp', {})).toBe(false)
  expect(parse('https://example.com/mcp', {})).toBe(true)
  expect(parse('http://localhost:1/mcp', {})).toBe(true)
  expect(parse('https://example.com/mcp', { clientId: 'a', clientSecret: '${b}' })).toBe(false)
  expect(parse('https://example.com/mcp', { grant: 'client_credentials' })).toBe(false)
})

it('a login asks for a code with PKCE, for the server alone', async () => {
  const servers = await startOAuthServers()
  const { tokens } = openTokenStore('safe', servers.mcp, {
    store: { kind: 'local', directory: await temporaryFolder() },
    keys: undefined,
  })
  const begun = await beginLogin(
    sdk,
    { name: 'safe', url: servers.mcp, oauth: {}, clientSecret: undefined, tokens },
    redirectUrl,
  )
  expect(begun.url.searchParams.get('code_challenge_method')).toBe('S256')
  expect(begun.url.searchParams.get('resource')).toBe(servers.mcp)
})

const randomKey = randomBytes(32)
