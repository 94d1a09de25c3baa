import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import type { CredentialRequest, CredentialSource } from './credential-source.js'
import { Credentials } from './credentials.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => vi.unstubAllEnvs())

const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const node = (script: string): { command: [string, ...string[]] } => ({ command: [process.execPath, '-e', script] })
const request = {
  tool: 'look_up',
  run: { namespace: 'default', workflowId: 'w', runId: 'r', agent: undefined },
  context: { tenant: 'acme' },
}
const { signal } = new AbortController()

async function resolve(source: CredentialSource, attempt = 1): Promise<string | undefined> {
  const { values } = await new Credentials({ github: source }).resolve(['github'], request, attempt, signal)
  return values.get('github')
}

describe('sources of credentials', () => {
  it('reads a credential from an environment variable', async () => {
    vi.stubEnv('TEST_GITHUB', 'from the environment')
    expect(await resolve({ environment: 'TEST_GITHUB' })).toBe('from the environment')
  })

  it('reads a credential from a file, without the line break at its end', async () => {
    expect(await resolve({ file: file('token', 'from a file\n') })).toBe('from a file')
  })

  it('reads a credential from the output of a command', async () => {
    expect(await resolve(node('console.log("from a command")'))).toBe('from a command')
  })

  it('reads a credential from a function, which gets the context of the run', async () => {
    const source = ({ name, tool, context }: CredentialRequest) => `${name} ${tool} ${JSON.stringify(context)}`
    expect(await resolve(source)).toBe('github look_up {"tenant":"acme"}')
  })
})

describe('unreadable credentials', () => {
  it.each([
    ['a variable that is not set', { environment: 'TEST_NOT_SET' }, 'the environment variable TEST_NOT_SET is not set'],
    ['a missing file', { file: join(folder, 'missing') }, "its file can't be read: ENOENT"],
    ['a folder', { file: folder }, 'its path is not that of a file'],
    ['an exit code', node('console.log("secret-value"); process.exit(3)'), 'its command ended with exit code 3'],
    ['a missing program', { command: ['no-such-program'] }, 'its command failed: ENOENT'],
    [
      'a function that throws',
      () => {
        throw new TypeError('secret-value')
      },
      'its function threw TypeError',
    ],
    ['a function without a text', (() => 5) as unknown as () => string, 'its function did not return a text'],
    ['a short value', () => 'abc', 'it has 3 characters, and needs at least 8'],
    ['an empty file', { file: file('empty', '\n') }, 'it has 0 characters, and needs at least 8'],
    ['a large file', { file: file('large', 'x'.repeat(70_000)) }, 'its file is over 65536 bytes'],
  ] as [string, CredentialSource, string][])(
    'an unreadable credential is a typed error without the value: %s',
    async (_, source, why) => {
      const error: unknown = await resolve(source).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        code: 'CREDENTIAL_UNAVAILABLE',
        message: `credential github is not available: ${why}`,
        retryable: true,
      })
      const { stack = '' } = error as Error
      expect(stack).not.toContain('secret-value')
    },
  )

  it('the check of credentials names an unreadable one, and does not call functions', async () => {
    const credentials = new Credentials({
      missing: { environment: 'TEST_NOT_SET' },
      there: { file: file('there', 'secret-value') },
      dynamic: () => 'secret-value',
    })
    expect(await credentials.check('missing')).toMatchObject({ type: 'missing' })
    expect(await credentials.check('there')).toEqual({ type: 'available' })
    expect(await credentials.check('dynamic')).toEqual({ type: 'not_checked' })
  })

  it('reading a credential rejects with the reason of the signal when the call is cancelled', async () => {
    const never = () => new Promise<string>(() => undefined)
    const controller = new AbortController()
    const resolved = new Credentials({ github: never }).resolve(['github'], request, 1, controller.signal)
    controller.abort(new Error('cancelled'))
    await expect(resolved).rejects.toThrow('cancelled')
  })
})

it('runs a credential command once for many calls, and again for a second attempt', async () => {
  const log = join(folder, 'runs')
  const source = node(`require('fs').appendFileSync(${JSON.stringify(log)}, 'x'); console.log('value-' + Date.now())`)
  const credentials = new Credentials({ github: source })
  const read = async (attempt: number) =>
    (await credentials.resolve(['github'], request, attempt, signal)).values.get('github')
  const [first, second] = await Promise.all([read(1), read(1)])
  expect(second).toBe(first)
  expect(await read(1)).toBe(first)
  expect(await read(2)).not.toBe(first)
  expect((await import('node:fs')).readFileSync(log, 'utf8')).toBe('xx')
})
