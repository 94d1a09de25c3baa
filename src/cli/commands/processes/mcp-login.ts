import { spawn } from 'node:child_process'
import { Command } from 'commander'
import { deferred } from '../../../common/async/deferred.js'
import { raceWithSignal, withTimeLimit } from '../../../common/async/abort.js'
import { PtcError } from '../../../common/errors.js'
import type { LoginServer } from '../../../tools/sources/mcp/oauth/login-of-source.js'
import { listenForInterrupts } from '../../process/interrupts.js'
import { print, printStatus } from '../../process/stdio.js'
import { oneLine } from '../../rendering/text/sanitize.js'
import { configOption, type ConfigOption } from '../options.js'

interface LoginOptions extends ConfigOption {
  readonly open: boolean
}

/** Milliseconds that a person has for a login. */
const loginMs = 10 * 60_000

export function mcpLoginCommand(): Command {
  return new Command('login')
    .description('give the workers access to an MCP server with `oauth`, in a browser on this machine')
    .argument('<server>', 'its name in `mcp` of the configuration')
    .option('--no-open', 'print the address of the login only, and open no browser')
    .addOption(configOption())
    .action(login)
}

export function mcpLogoutCommand(): Command {
  return new Command('logout')
    .description('remove the access to an MCP server that `ptc mcp login` has stored')
    .argument('<server>', 'its name in `mcp` of the configuration')
    .addOption(configOption())
    .action(async (name: string, { config }: ConfigOption) => {
      await withServer(name, config, async (server, signal) => {
        printStatus((await server.end(signal)) ? `the access to ${name} is removed` : `there is no access to ${name}`)
      })
    })
}

async function login(name: string, { config, open }: LoginOptions): Promise<void> {
  const { startHttpServer } = await import('../../../http/index.js')
  await withServer(name, config, async (server, signal) => {
    const redirected = deferred<URLSearchParams>()
    let state: string | null = null
    const callback = await startHttpServer({
      name: 'the login',
      port: 0,
      token: undefined,
      tokenHint: '',
      origins: new Set(),
      respond: ({ response, url }) => {
        // Only the redirect of this login: anybody on this machine may send a request.
        const isCallback = url.pathname === '/callback' && url.searchParams.get('state') === state
        response.writeHead(isCallback ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8' })
        response.end(
          isCallback ? 'You may close this page, and go back to the terminal.\n' : 'There is nothing here.\n',
        )
        if (isCallback) redirected.resolve(url.searchParams)
        return Promise.resolve()
      },
      respondToError: (_thrown, _request, response) => void response.writeHead(400).end(),
    })
    try {
      await withTimeLimit(signal, loginMs, async (limited) => {
        const begun = await server.begin(`${callback.url}/callback`, limited)
        state = begun.url.searchParams.get('state')
        printStatus(`log in to ${oneLine(begun.url.host)}:`)
        print(begun.url.href)
        if (open && process.stdout.isTTY) openBrowser(begun.url)
        await begun.finish(await raceWithSignal(limited, redirected.promise), limited)
      })
    } finally {
      await callback.close()
    }
    printStatus(`workers have access to ${name} now`)
  })
}

/** The address is printed, too: it is no error when there is no browser. */
function openBrowser({ href }: URL): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', href]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', href]
        : ['xdg-open', href]
  const child = spawn(command, args, { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}

/** @throws PtcError CONFIG_INVALID when the configuration has no such server */
async function withServer(
  name: string,
  config: string | undefined,
  use: (server: LoginServer, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  using interrupts = listenForInterrupts()
  const { loadProject } = await import('../../environment/project.js')
  const { loginOf } = await import('../../../tools/sources/mcp/oauth/login-of-source.js')
  const { sources } = (await loadProject(config)).config.tools
  const servers = sources.flatMap((source) => loginOf(source) ?? [])
  const server = servers.find((each) => each.name === name)
  if (server === undefined) {
    const names = servers.map((each) => each.name).join(', ')
    throw new PtcError('CONFIG_INVALID', `the configuration has no MCP server ${name} to log in to`, {
      hint: names === '' ? 'Such a server has `oauth: {}`, and no client credentials.' : `It has: ${names}.`,
    })
  }
  try {
    await use(server, interrupts.first)
  } finally {
    await server.close()
  }
}
