import { z } from 'zod'
import { raceWithSignal } from '../../../../common/async/abort.js'
import { digestJson } from '../../../../common/calls/call-identity.js'
import { NotSentError } from '../../../network/open-response.js'
import { acceptedEncodings } from '../../../network/read-response.js'
import { sendRequest } from '../../../network/send-request.js'

/** A request for a token by the client credentials of OAuth 2 (RFC 6749, section 4.4). */
export interface TokenRequest {
  readonly tokenUrl: URL
  /** The configuration names the host of the URL. */
  readonly isConfigured: boolean
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: readonly string[]
}

interface KeptToken {
  readonly token: Promise<string>
  usableUntil: number
}

const fetchMs = 30_000
const maxBytes = 64 * 1024
const maxTokens = 200
/** A token is not used in its last seconds: the request with it takes some. */
const reserveMs = 30_000
const defaultLifetimeMs = 5 * 60_000

const reply = z.object({
  access_token: z.string().regex(/^[\x21-\x7E]{1,16000}$/),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().min(0).max(1e9).optional().catch(undefined),
})

const failure = z.object({ error: z.string().regex(/^[\w.-]{1,100}$/) })

/** The tokens of this process. Concurrent calls share one request. A token is in no history and in no file. */
export class ClientTokens {
  readonly #kept = new Map<string, KeptToken>()

  /**
   * @returns also whether the token is from an earlier call: then the API may have ended it meanwhile
   * @throws NotSentError: the call was not sent; the reason of the signal
   */
  async get(request: TokenRequest, signal: AbortSignal): Promise<{ readonly token: string; readonly isKept: boolean }> {
    const key = keyOf(request)
    const known = this.#kept.get(key)
    if (known && performance.now() < known.usableUntil)
      return { token: await raceWithSignal(signal, known.token), isKept: true }
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= maxTokens && oldest !== undefined) this.#kept.delete(oldest)
    const kept: KeptToken = {
      token: requestToken(request).then(({ token, lifetimeMs }) => {
        kept.usableUntil = performance.now() + lifetimeMs - reserveMs
        return token
      }),
      usableUntil: Infinity,
    }
    this.#kept.set(key, kept)
    kept.token.catch(() => this.#kept.get(key) === kept && this.#kept.delete(key))
    return { token: await raceWithSignal(signal, kept.token), isKept: false }
  }

  forget(request: TokenRequest): void {
    this.#kept.delete(keyOf(request))
  }
}

function keyOf({ tokenUrl, clientId, clientSecret, scopes }: TokenRequest): string {
  return digestJson([tokenUrl.href, clientId, clientSecret, ...scopes])
}

/** Its own time limit: the call that begins the request may end before the others that wait for it. */
async function requestToken(request: TokenRequest): Promise<{ readonly token: string; readonly lifetimeMs: number }> {
  const { tokenUrl, isConfigured, clientId, clientSecret, scopes } = request
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  })
  const { status, body } = await sendRequest(
    {
      method: 'POST',
      url: tokenUrl,
      headers: {
        accept: 'application/json',
        'accept-encoding': acceptedEncodings,
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'durable-ptc',
        authorization: `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')}`,
      },
      body: Buffer.from(form.toString()),
      isConfigured,
      isRepeatable: true,
      signal: AbortSignal.timeout(fetchMs),
    },
    () => maxBytes,
  ).catch((thrown: unknown) => {
    throw thrown instanceof NotSentError ? thrown : failed('can not be asked', true, thrown)
  })
  const json = parse(body)
  if (status !== 200) {
    const code = failure.safeParse(json).data?.error
    const isTemporary = status >= 500 || status === 408 || status === 429
    throw failed(`answered with HTTP status ${status}${code === undefined ? '' : ` (${code})`}`, isTemporary)
  }
  const { data } = reply.safeParse(json)
  if (data === undefined) throw failed('answered without a bearer token', false)
  const { access_token: token, expires_in: seconds } = data
  return { token, lifetimeMs: seconds === undefined ? defaultLifetimeMs : seconds * 1_000 }

  function failed(what: string, isTemporary: boolean, cause?: unknown): NotSentError {
    return new NotSentError(`the token server ${tokenUrl.host} ${what}`, isTemporary, cause)
  }
}

/** RFC 6749, section 2.3.1: both parts are encoded as in a form. */
function encoded(text: string): string {
  return new URLSearchParams({ x: text }).toString().slice(2)
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as unknown
  } catch {
    return undefined
  }
}
