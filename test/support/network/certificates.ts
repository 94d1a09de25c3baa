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

export async function createCertificate(...names: readonly string[]): Promise<Certificate> {
  const folder = await temporaryFolder()
  const openssl = (...parameters: string[]) => execFileSync('openssl', parameters, { cwd: folder, stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test CA')
  openssl('req', ...newKey, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=test')
  writeFileSync(join(folder, 'names'), `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}\n`)
  const signer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names']
  openssl('x509', '-req', '-in', 'request.pem', ...signer, '-out', 'cert.pem', '-days', '2')
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') }
}
