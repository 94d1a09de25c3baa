import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { gzipSync } from 'node:zlib'
import { temporaryFolder } from '../folders.js'
import type { Certificate } from './certificates.js'
import { listen } from './proxy.js'

/** Listens until the end of the test, for HTTP/1.1 and HTTP/2. Returns the port. */
export function startSecured({ cert, key }: Certificate, answer: RequestListener) {
  const server = createSecureServer({ cert, key, allowHTTP1: true, noDelay: true }, (request, response) => {
    // Both have the same methods, as far as tests use them.
    answer(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  return listen(server)
}

/** Serves a repository `/project.git` with one commit of `README`, by the program of git for web servers. */
export async function gitService(): Promise<RequestListener> {
  const root = await temporaryFolder()
  const repository = join(root, 'project.git')
  const work = join(root, 'work')
  const git = (folder: string, ...parameters: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...parameters], {
      cwd: folder,
      stdio: 'pipe',
    })
  git(root, 'init', '--quiet', '--bare', '--initial-branch=main', repository)
  git(repository, 'config', 'http.receivepack', 'true')
  git(root, 'init', '--quiet', '--initial-branch=main', work)
  writeFileSync(join(work, 'README'), 'A project.\n')
  git(work, 'add', 'README')
  git(work, 'commit', '--quiet', '--message', 'Begin')
  git(work, 'push', '--quiet', repository, 'main')
  return (request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split('?')
    const {
      'content-type': type = '',
      'content-encoding': encoding = '',
      'git-protocol': protocol = '',
    } = request.headers
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: type,
        HTTP_CONTENT_ENCODING: encoding,
        GIT_PROTOCOL: String(protocol),
      },
    })
    request.pipe(backend.stdin).on('error', () => undefined)
    void sendOutput(backend.stdout, response)
  }
}

/** Sends the output of a CGI program as a response. */
async function sendOutput(output: Readable, response: ServerResponse): Promise<void> {
  const bytes = await buffer(output)
  const end = bytes.indexOf('\r\n\r\n')
  const fields = bytes.subarray(0, end).toString().split('\r\n')
  const { Status: status = '200', ...headers } = Object.fromEntries(fields.map((field) => field.split(': ', 2)))
  response.writeHead(Number.parseInt(status, 10), headers).end(bytes.subarray(end + 4))
}

/** Serves a package `greeting` for pip as PyPI does: the index on one host, its files on another. */
export async function pipService(filesUrl: string): Promise<RequestListener> {
  const folder = await temporaryFolder()
  const wheel = 'greeting-1.0-py3-none-any.whl'
  const program = `
import zipfile
name = 'greeting-1.0.dist-info/'
files = {
    'greeting.py': 'TEXT = "hello"\\n',
    name + 'METADATA': 'Metadata-Version: 2.1\\nName: greeting\\nVersion: 1.0\\n',
    name + 'WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
}
with zipfile.ZipFile('${wheel}', 'w') as archive:
    for path, content in files.items():
        archive.writestr(path, content)
    archive.writestr(name + 'RECORD', ''.join(f'{path},,\\n' for path in [*files, name + 'RECORD']))`
  execFileSync('python3', ['-c', program], { cwd: folder })
  const content = readFileSync(join(folder, wheel))
  const digest = createHash('sha256').update(content).digest('hex')
  const page = `<!DOCTYPE html><a href="${filesUrl}/${wheel}#sha256=${digest}">${wheel}</a>`
  return ({ url }, response) => {
    if (url === '/simple/greeting/') response.writeHead(200, { 'Content-Type': 'text/html' }).end(page)
    else if (url === `/${wheel}`) response.end(content)
    else response.writeHead(404).end()
  }
}

/** Serves a package `greeting` for npm. */
export async function npmService(url: () => string): Promise<RequestListener> {
  const archive = pack()
  archive.entry({ name: 'package/package.json' }, JSON.stringify({ name: 'greeting', version: '1.0.0' }))
  archive.entry({ name: 'package/index.js' }, 'module.exports = "hello"\n')
  archive.finalize()
  const content = gzipSync(await buffer(archive))
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`
  return ({ url: path }, response) => {
    const dist = { tarball: `${url()}/greeting/-/greeting-1.0.0.tgz`, integrity }
    const version = { name: 'greeting', version: '1.0.0', dist }
    const known = { name: 'greeting', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }
    if (path === '/greeting') response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(known))
    else if (path?.endsWith('.tgz')) response.end(content)
    else response.writeHead(404).end('{}')
  }
}
