import type { Fault } from './fault.js'
import { causesOf } from './redact.js'

const faults: Readonly<Record<'refused' | 'cut' | 'unknownHost' | 'slow' | 'tls', Fault>> = {
  refused: {
    code: 'MODEL_CONNECTION',
    message: 'connection refused',
    hint: 'Check the base URL and that the endpoint is up.',
  },
  cut: {
    code: 'MODEL_CONNECTION',
    message: 'the connection was cut',
    hint: 'Usually passes; if not, look at proxies in between.',
  },
  unknownHost: {
    code: 'MODEL_CONNECTION',
    message: 'host not found',
    hint: "Check the base URL and this machine's DNS.",
  },
  slow: {
    code: 'MODEL_TIMEOUT',
    message: 'no answer in time',
    hint: 'Usually passes; if not, check network and proxies.',
  },
  tls: {
    code: 'MODEL_CONNECTION',
    message: 'TLS failed',
    hint: 'Check the certificate; for a private authority set NODE_EXTRA_CA_CERTS.',
  },
}

const kinds: Readonly<Record<string, keyof typeof faults>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  ECONNRESET: 'cut',
  ECONNABORTED: 'cut',
  EPIPE: 'cut',
  UND_ERR_SOCKET: 'cut',
  ENOTFOUND: 'unknownHost',
  EAI_AGAIN: 'unknownHost',
  ETIMEDOUT: 'slow',
  UND_ERR_CONNECT_TIMEOUT: 'slow',
  UND_ERR_HEADERS_TIMEOUT: 'slow',
  UND_ERR_BODY_TIMEOUT: 'slow',
  EPROTO: 'tls',
}

const tlsCode = /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/

/** What went wrong between us and the server; undefined when the error is none of the network's. */
export function networkFaultOf(thrown: unknown): Fault | undefined {
  const errors = causesOf(thrown)
  for (const error of errors) {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
    if (code === undefined) continue
    const kind = kinds[code] ?? (tlsCode.test(code) ? 'tls' : undefined)
    if (kind === undefined) continue
    const fault = faults[kind]
    return { ...fault, message: `${fault.message} (${code})` }
  }
  // The two things Node's fetch says of a network error, whatever its cause.
  const said = errors.find(({ message }) => message === 'fetch failed' || message === 'terminated')
  return said && { ...faults.cut, message: said.message }
}
