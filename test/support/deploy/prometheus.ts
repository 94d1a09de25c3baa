import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../folders.js'
import { pollOptions } from '../poll-options.js'
import { root } from './tools.js'

interface QueryAnswer {
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] }
}

interface RulesAnswer {
  readonly data: { readonly groups: readonly { readonly rules: readonly RuleState[] }[] }
}

export interface RuleState {
  readonly name: string
  readonly health: string
  readonly state: string
}

/** Prometheus with the configuration of `deploy`, for services at other addresses; ends with the test. */
export class Prometheus {
  readonly #url: string

  private constructor(url: string) {
    this.#url = url
  }

  /**
   * @param address where it listens
   * @param targets addresses of the metrics of workers
   * @param translate replaces the addresses of services in its configuration
   */
  static async start(
    address: string,
    targets: readonly string[],
    translate: (configuration: string) => string,
  ): Promise<Prometheus> {
    const folder = await temporaryFolder()
    const deployed = join(root, 'deploy/prometheus')
    const rules = join(folder, 'alerts.yml')
    // A test does not wait for minutes.
    writeFileSync(
      rules,
      readFileSync(join(root, 'deploy/helm/durable-ptc/files/alerts.yml'), 'utf8').replaceAll('for: 2m', 'for: 1s'),
    )
    const configuration = translate(readFileSync(join(deployed, 'prometheus.yml'), 'utf8'))
      .replaceAll('15s', '1s')
      .replace('[../helm/durable-ptc/files/alerts.yml]', JSON.stringify([rules]))
      .replace(/ +dns_sd_configs:[^]*?(?= {2}- job_name)/, `    static_configs: ${JSON.stringify([{ targets }])}\n`)
    const file = join(folder, 'prometheus.yml')
    writeFileSync(file, configuration)
    const options = [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`]
    const child = spawn('prometheus', options, { stdio: 'ignore' })
    onTestFinished(async () => {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    const url = `http://${address}`
    const isReady = () =>
      fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
    await vi.waitUntil(isReady, pollOptions)
    return new Prometheus(url)
  }

  /** The value of an expression with one result; undefined without one. */
  async query(expression: string): Promise<number | undefined> {
    const response = await fetch(`${this.#url}/api/v1/query?query=${encodeURIComponent(expression)}`)
    const { data } = (await response.json()) as QueryAnswer
    const value = data.result[0]?.value[1]
    return value === undefined ? undefined : Number(value)
  }

  async rules(): Promise<readonly RuleState[]> {
    const response = await fetch(`${this.#url}/api/v1/rules`)
    const { data } = (await response.json()) as RulesAnswer
    return data.groups.flatMap(({ rules }) => rules)
  }
}
