import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { ToolError } from '../../../tool-error.js'
import type { ResolvedAddress } from '../policy/resolve-host.js'

interface SendOptions {
  /** Judged addresses of the URL's host. */
  readonly addresses: readonly ResolvedAddress[]
  readonly userAgent: string
  /** Ends the request, and the body that is being read. */
  readonly signal: AbortSignal
}

/** Accepted by `readBody`. */
const acceptedEncodings = 'gzip, br'

/**
 * Sends a GET request without cookies and credentials, and follows no redirect. A proxy of the environment is not used:
 * it would resolve the host a second time.
 *
 * @returns a response whose body nobody has read: its owner destroys it
 */
export function sendRequest(url: URL, { addresses, userAgent, signal }: SendOptions): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const headers = {
    'User-Agent': userAgent,
    Accept: 'text/html, application/xhtml+xml, text/*, application/json, application/pdf;q=0.9, */*;q=0.1',
    'Accept-Encoding': acceptedEncodings,
  }
  return new Promise((resolve, reject) => {
    // A connection of its own: a pool would give the connection of an earlier answer of the resolver.
    const request = send(url, { agent: false, lookup: answerWith(addresses), headers, signal, maxHeaderSize })
    request.on('response', (response) => {
      // The end of the signal is an error of the response, which may have no reader at that moment.
      response.on('error', () => undefined)
      resolve(response)
    })
    request.on('error', (error) => reject(signal.aborted ? (signal.reason as Error) : error))
    request.on('upgrade', (_response, socket) => {
      socket.destroy()
      reject(new ToolError(`${url.host} wants another protocol than HTTP`))
    })
    request.end()
  })
}

const maxHeaderSize = 32 * 1024

/** The socket asks this function for the addresses of its host: it gets those that were judged. */
function answerWith(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, { all, family }, callback) => {
    const [first] = addresses
    if (all === true)
      callback(
        null,
        addresses.map(({ address, family }) => ({ address, family })),
      )
    else if (first === undefined) callback(new Error(`no address of family ${family}`), '', 0)
    else callback(null, first.address, first.family)
  }
}
