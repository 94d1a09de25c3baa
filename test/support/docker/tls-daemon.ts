import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../folders.js'

const daemonSocket = (process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace('unix://', '')

/** A certificate authority with a certificate for a server and one for a client, in the layout of the docker CLI. */
export interface Certificates {
  /** Folder for DOCKER_CERT_PATH: ca.pem, cert.pem, key.pem. */
  readonly clientFolder: string
  readonly server: { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer }
}

export async function createCertificates(): Promise<Certificates> {
  const folder = await temporaryFolder()
  const openssl = (...parameters: string[]) => execFileSync('openssl', parameters, { cwd: folder, stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...newKey, '-keyout', 'ca-key.pem', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test CA')
  const sign = (name: string, extensions: string): void => {
    const request = `${name}.csr`
    openssl('req', ...newKey, '-keyout', `${name}-key.pem`, '-out', request, '-subj', `/CN=${name}`)
    writeFileSync(join(folder, `${name}.ext`), extensions)
    const signer = ['-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-CAcreateserial', '-extfile', `${name}.ext`]
    openssl('x509', '-req', '-in', request, ...signer, '-out', `${name}.pem`, '-days', '2')
  }
  sign('server', 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n')
  sign('client', 'extendedKeyUsage=clientAuth\n')
  const read = (file: string): Buffer => readFileSync(join(folder, file))
  const clientFolder = await temporaryFolder()
  writeFileSync(join(clientFolder, 'ca.pem'), read('ca.pem'))
  writeFileSync(join(clientFolder, 'cert.pem'), read('client.pem'))
  writeFileSync(join(clientFolder, 'key.pem'), read('client-key.pem'))
  return { clientFolder, server: { ca: read('ca.pem'), cert: read('server.pem'), key: read('server-key.pem') } }
}

/** The test's daemon by TCP, with TLS and a check of the client's certificate. Returns the value of DOCKER_HOST. */
export function serveDaemonByTls({ server }: Certificates): Promise<string> {
  return listen(createServer({ ...server, requestCert: true, rejectUnauthorized: true }, forward), 'tlsClientError')
}

/** The same without TLS. */
export function serveDaemonByTcp(): Promise<string> {
  return listen(createTcpServer(forward), 'error')
}

async function listen(server: Server, clientErrorEvent: string): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.on(clientErrorEvent, () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function forward(client: Socket): void {
  const daemon = connect(daemonSocket)
  client.pipe(daemon)
  daemon.pipe(client)
  client.on('error', () => daemon.destroy())
  daemon.on('error', () => client.destroy())
  client.on('close', () => daemon.destroy())
  daemon.on('close', () => client.destroy())
}
