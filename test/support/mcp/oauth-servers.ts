import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const script = fileURLToPath(new URL('../../fixtures/mcp/oauth-servers.mjs', import.meta.url))

export interface OAuthCounts {
  readonly token: number
  readonly registrations: number
  readonly refreshes: number
  readonly unauthorized: number
  readonly calls: number
}

/** A protected MCP server and its authorization server, until the test ends. */
export interface OAuthServers {
  readonly mcp: string
  readonly issuer: string
  control(change: Readonly<Record<string, unknown>>): Promise<OAuthCounts>
}

export async function startOAuthServers(): Promise<OAuthServers> {
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.on('exit', (code) => code && process.stderr.write(said))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const { mcp, issuer } = JSON.parse(line) as { readonly mcp: string; readonly issuer: string }
  const control = async (change: Readonly<Record<string, unknown>>) => {
    const response = await fetch(new URL('/control', mcp), { method: 'POST', body: JSON.stringify(change) })
    return (await response.json()) as OAuthCounts
  }
  return { mcp, issuer, control }
}

/** Follows redirects with cookies, as a browser does, until one leads to an address that begins with `end`. */
export async function browse(start: string, end: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = new URL(start)
  for (let redirects = 0; redirects < 20; redirects++) {
    if (url.href.startsWith(end)) return url
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const set of response.headers.getSetCookie()) {
      const [pair = ''] = set.split(';')
      const at = pair.indexOf('=')
      cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${url.href} answered ${response.status}: ${await response.text()}`)
    url = new URL(location, url)
  }
  throw new Error('there are too many redirects')
}
