import { isIP } from 'node:net'
import { PtcError } from '../common/errors.js'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/**
 * Parses `127.0.0.1:9464`, `[::]:9464` or `:9464` (every interface).
 *
 * @throws PtcError CONFIG_INVALID
 */
export function parseListenAddress(text: string): ListenAddress {
  const address = read(text)
  if (address) return address
  throw new PtcError('CONFIG_INVALID', `${JSON.stringify(text)} is no address to listen at`, {
    hint: 'Write an IP address and a port, such as 127.0.0.1:9464, or :9464 for every interface.',
  })
}

function read(text: string): ListenAddress | undefined {
  const match = /^(?:\[(?<v6>[^\]]+)\]|(?<v4>[\d.]*)):(?<port>\d{1,5})$/.exec(text)
  const { v4, v6, port } = match?.groups ?? {}
  const host = v6 ?? (v4 === '' ? '0.0.0.0' : v4)
  const isValid = host !== undefined && isIP(host) !== 0 && Number(port) <= 65_535
  return isValid ? { host, port: Number(port) } : undefined
}

/** The address as `IP:PORT`. */
export function formatListenAddress({ host, port }: ListenAddress): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

export function isListenAddress(text: string): boolean {
  return read(text) !== undefined
}
