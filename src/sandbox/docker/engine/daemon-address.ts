import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { DockerOptions } from 'dockerode'
import { z } from 'zod'
import { defined } from '../../../common/defined.js'
import { messageOf, PtcError } from '../../../common/errors.js'
import { hasErrorCode } from '../../../common/system-error.js'
import { decodeText } from '../../../common/text/decode-text.js'
import type { EnvironmentVariables } from '../../../platform/cache-directory.js'

/** The address of the Docker daemon. */
export interface DaemonAddress {
  /** Options for dockerode. Empty: dockerode reads DOCKER_HOST, or uses the default socket. */
  readonly options: DockerOptions
  /** The address in the form of DOCKER_HOST; undefined: the default socket. */
  readonly host?: string
  readonly usesTls: boolean
  /** The Docker context that has the address. */
  readonly context?: string
}

const systemSocket = '/var/run/docker.sock'

/**
 * Finds the daemon like the docker CLI: by DOCKER_HOST, else the context of DOCKER_CONTEXT, else the context that
 * `docker context use` chose, else the default socket. If this socket does not exist, uses the socket of a rootless
 * daemon.
 *
 * @throws PtcError CONFIG_INVALID for an address that can't be used
 */
export function findDaemon(environment: EnvironmentVariables = process.env): DaemonAddress {
  const host = environment['DOCKER_HOST']
  if (host) {
    refuseSsh(host, 'DOCKER_HOST')
    return { options: {}, host, usesTls: environment['DOCKER_TLS_VERIFY'] === '1' || host.endsWith(':2376') }
  }
  const folder = environment['DOCKER_CONFIG'] || join(environment['HOME'] || homedir(), '.docker')
  const context = environment['DOCKER_CONTEXT'] || readConfig(join(folder, 'config.json')).currentContext
  if (context && context !== 'default') return addressOf(folder, context)
  const rootless = join(environment['XDG_RUNTIME_DIR'] || '/nonexistent', 'docker.sock')
  const isDefaultMissing = !existsSync(systemSocket) && !existsSync(join(folder, 'run', 'docker.sock'))
  const options = isDefaultMissing && existsSync(rootless) ? { socketPath: rootless } : {}
  return { options, usesTls: false }
}

const configSchema = z.object({ currentContext: z.string().optional() })

function readConfig(path: string): z.output<typeof configSchema> {
  try {
    return configSchema.parse(JSON.parse(decodeText(readFileSync(path), path, 'CONFIG_INVALID')))
  } catch (cause) {
    // Docker's own programs report the problem of the file.
    if (hasErrorCode(cause, 'ENOENT') || hasErrorCode(cause, 'EACCES') || hasErrorCode(cause, 'ENOTDIR')) return {}
    throw new PtcError('CONFIG_INVALID', `${path} is not a configuration of Docker: ${messageOf(cause)}`, {
      hint: 'Correct it, or set DOCKER_HOST.',
      cause,
    })
  }
}

const contextSchema = z.object({ Endpoints: z.object({ docker: z.object({ Host: z.string().min(1) }) }) })

function addressOf(folder: string, context: string): DaemonAddress {
  const digest = createHash('sha256').update(context).digest('hex')
  const path = join(folder, 'contexts', 'meta', digest, 'meta.json')
  const hint = '`docker context ls` has those that exist; `docker context use` chooses one, and so does DOCKER_CONTEXT.'
  let host: string
  try {
    host = contextSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).Endpoints.docker.Host
  } catch (cause) {
    const reason = hasErrorCode(cause, 'ENOENT') ? `there is no ${path}` : `${path} is not readable`
    throw new PtcError('CONFIG_INVALID', `the Docker context ${JSON.stringify(context)} can't be used: ${reason}`, {
      hint,
      cause,
    })
  }
  refuseSsh(host, `the host of Docker context ${JSON.stringify(context)}`)
  const certificates = readCertificates(join(folder, 'contexts', 'tls', digest, 'docker'))
  const usesTls = certificates !== undefined
  return { options: { ...toOptions(host, usesTls, context), ...certificates }, host, usesTls, context }
}

function toOptions(host: string, usesTls: boolean, context: string): DockerOptions {
  const [, socketPath] = /^(?:unix|npipe):\/\/(.+)$/.exec(host) ?? []
  if (socketPath !== undefined) return { socketPath }
  const url = URL.canParse(host) ? new URL(host) : undefined
  if (url && /^(tcp|https?):$/.test(url.protocol) && url.hostname !== '') {
    const isHttps = usesTls || url.protocol === 'https:'
    const port = url.port || (isHttps ? '2376' : '2375')
    return { host: url.hostname, port, protocol: isHttps ? 'https' : 'http' }
  }
  throw new PtcError('CONFIG_INVALID', `the host of Docker context ${JSON.stringify(context)} is not usable: ${host}`, {
    hint: 'It is like unix:///var/run/docker.sock or tcp://host:2376.',
  })
}

function readCertificates(folder: string): Pick<DockerOptions, 'ca' | 'cert' | 'key'> | undefined {
  const read = (name: string): Buffer | undefined => {
    const path = join(folder, name)
    return existsSync(path) ? readFileSync(path) : undefined
  }
  const [ca, cert, key] = [read('ca.pem'), read('cert.pem'), read('key.pem')]
  if (!ca && !cert && !key) return undefined
  return defined({ ca, cert, key })
}

function refuseSsh(host: string, source: string): void {
  if (!host.startsWith('ssh:')) return
  // dockerode does not verify SSH host keys.
  const subject = source === 'DOCKER_HOST' ? 'DOCKER_HOST=ssh://…' : `${source}, ssh://…,`
  throw new PtcError('CONFIG_INVALID', `${subject} is not supported: host keys would not be checked`, {
    hint:
      'Use an SSH tunnel: `ssh -N -L /tmp/docker.sock:/var/run/docker.sock user@host`, ' +
      'and DOCKER_HOST=unix:///tmp/docker.sock.',
  })
}
