import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../folders.js'
import { freeAddress } from '../monitoring/free-address.js'
import { pollOptions } from '../poll-options.js'
import { root } from './tools.js'

/**
 * nginx with the configuration of the service `codec-proxy`, which is made from the template in the same way as by its
 * image; ends with the test.
 *
 * @param codecServer host and port
 * @param environment of the service
 * @returns its URL
 */
export async function startCodecProxy(
  codecServer: string,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = await temporaryFolder()
  const address = await freeAddress()
  const server = readFileSync(join(root, 'deploy/codec-proxy/default.conf.template'), 'utf8')
    .replace(/\$\{(\w+)\}/g, (_, name: string) => environment[name] ?? '')
    .replace('listen 8234', `listen ${address}`)
    .replace('codec-server:8234', codecServer)
  const file = join(folder, 'nginx.conf')
  // Without a master process, nginx keeps the user of the test.
  const settings = `daemon off; master_process off; pid ${folder}/pid; events {}`
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`)
  writeFileSync(file, `${settings}\nhttp { access_log off; ${folders.join(' ')}\n${server}}\n`)
  const child = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', file], { stdio: ['ignore', 'ignore', 'inherit'] })
  onTestFinished(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const url = `http://${address}`
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await vi.waitUntil(answers, pollOptions)
  return url
}
