import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'

/** Properties of the machine that a result depends on. */
export function machineFacts(): Record<string, string> {
  const processors = cpus()
  return {
    processor: `${processors.length} x ${processors[0]?.model.trim() ?? 'unknown'}`,
    memory: `${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
    system: `${process.platform} ${release()}`,
    node: process.version,
    'Temporal SDK': sdkVersion(),
    docker: dockerVersion(),
    'load at the start': loadavg()
      .map((load) => load.toFixed(2))
      .join(' '),
  }
}

function sdkVersion(): string {
  const file = new URL('../../node_modules/@temporalio/worker/package.json', import.meta.url)
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }
  return version
}

function dockerVersion(): string {
  const format = '{{.Server.Version}}, API {{.Server.APIVersion}}'
  try {
    return execFileSync('docker', ['version', '--format', format], { encoding: 'utf8', timeout: 5_000 }).trim()
  } catch {
    return 'not known: the docker command does not answer'
  }
}
