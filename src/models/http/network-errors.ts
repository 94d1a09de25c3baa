import type { ErrorContext, ModelFault } from './model-fault.js'
import { causesOf } from './redact.js'

const faults: Readonly<Record<'refused' | 'reset' | 'unknownHost' | 'timeout' | 'tls', ModelFault>> = {
  refused: {
    code: 'MODEL_CONNECTION',
    message: 'connection refused',
    hint: 'Check the base URL and that the endpoint is up.',
  },
  reset: {
    code: 'MODEL_CONNECTION',
    message: 'the connection was cut',
    hint: 'Usually passes; if not, look at proxies in between.',
  },
  unknownHost: {
    code: 'MODEL_CONNECTION',
    message: 'host not found',
    hint: "Check the base URL and this machine's DNS; where a proxy is needed, set HTTPS_PROXY.",
  },
  timeout: {
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
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ENOTFOUND: 'unknownHost',
  EAI_AGAIN: 'unknownHost',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  EPROTO: 'tls',
}

const tlsCode = /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/

/** The fault of a network error; undefined for other errors. */
export function networkFaultOf(thrown: unknown, { baseURL }: ErrorContext): ModelFault | undefined {
  const fault = causeOf(thrown)
  return fault && { ...fault, message: `Can't reach the model API at ${baseURL}: ${fault.message}.` }
}

function causeOf(thrown: unknown): ModelFault | undefined {
  const errors = causesOf(thrown)
  for (const error of errors) {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
    if (code === undefined) continue
    const kind = kinds[code] ?? (tlsCode.test(code) ? 'tls' : undefined)
    if (kind === undefined) continue
    const fault = faults[kind]
    return { ...fault, message: `${fault.message} (${code})` }
  }
  const refusal = errors.flatMap(({ message }) => /^Proxy response \((\d+)\)/.exec(message) ?? [])[1]
  if (refusal !== undefined) {
    const hint = 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the worker.'
    return { code: 'MODEL_CONNECTION', message: `the proxy answered ${refusal}`, hint }
  }
  // The two messages of Node's fetch for any network error.
  const fetchError = errors.find(({ message }) => message === 'fetch failed' || message === 'terminated')
  return fetchError && { ...faults.reset, message: fetchError.message }
}
