import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../folders.js'

/** A certificate for names, and the authority that signed it, as PEM. */
export interface Certificate {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** A certificate authority, as PEM. */
export interface Authority {
  readonly certificate: string
  readonly key: string
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Creates a certificate that a new authority has signed. */
export async function createCertificate(...names: readonly string[]): Promise<Certificate> {
  const { run, read } = await openssl()
  run('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test CA')
  return signCertificate({ certificate: read('ca.pem'), key: read('ca.key') }, ...names)
}

export async function signCertificate(authority: Authority, ...names: readonly string[]): Promise<Certificate> {
  const { run, read, write } = await openssl()
  write('ca.pem', authority.certificate)
  write('ca.key', authority.key)
  run('req', ...newKey, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=test')
  write('names', `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}\n`)
  const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names']
  run('x509', '-req', '-in', 'request.pem', ...signer, '-out', 'cert.pem', '-days', '2')
  return { ca: authority.certificate, cert: read('cert.pem'), key: read('key.pem') }
}

async function openssl() {
  const folder = await temporaryFolder()
  return {
    run: (...parameters: readonly string[]) => execFileSync('openssl', parameters, { cwd: folder, stdio: 'pipe' }),
    read: (file: string) => readFileSync(join(folder, file), 'utf8'),
    write: (file: string, content: string) => writeFileSync(join(folder, file), content),
  }
}
