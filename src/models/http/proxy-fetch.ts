import { PtcError } from '../../common/errors.js'
import { hasErrorCode } from '../../common/system-error.js'

/** Variables in small letters count, too, as in other programs. */
const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

/** The agent reads the variables when it is made. */
let proxied: { readonly variables: string; readonly fetch: Promise<typeof fetch> } | undefined

/**
 * The `fetch` for requests to models. Node's own ignores the variables for proxies (`HTTPS_PROXY`, `HTTP_PROXY`,
 * `NO_PROXY`). When one is set, this function uses undici's, which obeys them.
 */
export const fetchThroughProxy: typeof fetch = async (...request) => {
  if (proxyVariables.every((name) => !process.env[name])) return fetch(...request)
  const variables = JSON.stringify([...proxyVariables, 'NO_PROXY', 'no_proxy'].map((name) => process.env[name]))
  if (proxied?.variables !== variables) proxied = { variables, fetch: loadProxiedFetch() }
  return (await proxied.fetch)(...request)
}

/** @throws PtcError CONFIG_INVALID without the package, which is optional */
async function loadProxiedFetch(): Promise<typeof fetch> {
  try {
    const { EnvHttpProxyAgent, fetch: fetchByAgent } = await import('undici')
    const dispatcher = new EnvHttpProxyAgent()
    const send = (input: never, init: object | undefined) => fetchByAgent(input, { ...init, dispatcher })
    // The SDKs call it with a URL and Node's types of the same standard.
    return send as unknown as typeof fetch
  } catch (thrown) {
    if (!hasErrorCode(thrown, 'ERR_MODULE_NOT_FOUND')) throw thrown
    throw new PtcError('CONFIG_INVALID', 'a proxy for models (HTTPS_PROXY) needs package undici', {
      hint: 'Install it with durable-ptc: npm install undici.',
      cause: thrown,
    })
  }
}
