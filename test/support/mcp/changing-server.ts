import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../folders.js'

const script = fileURLToPath(new URL('../../fixtures/mcp/changing-server.mjs', import.meta.url))

interface ListedTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: unknown
  readonly outputSchema?: unknown
}

/** An MCP server whose list of tools a test changes. It is not available before the first change. */
export class ChangingServer {
  readonly #file: string
  readonly #ledger: string
  readonly #capabilities: Readonly<Record<string, object>>

  /** @param capabilities besides tools */
  static async create(
    tools?: readonly ListedTool[],
    capabilities: Readonly<Record<string, object>> = {},
  ): Promise<ChangingServer> {
    const folder = await temporaryFolder()
    const server = new ChangingServer(join(folder, 'tools.json'), join(folder, 'ledger'), capabilities)
    await writeFile(server.#ledger, '')
    if (tools) await server.change({ tools })
    return server
  }

  private constructor(file: string, ledger: string, capabilities: Readonly<Record<string, object>>) {
    this.#file = file
    this.#ledger = ledger
    this.#capabilities = capabilities
  }

  /** Options of the server in a configuration. */
  get options() {
    return {
      command: process.execPath,
      args: [script, this.#file, this.#ledger, JSON.stringify(this.#capabilities)],
      trusted: true,
      approval: 'never' as const,
    }
  }

  /** @param list with `error`, the server refuses to list its tools */
  async change(list: { readonly tools: readonly ListedTool[]; readonly error?: string }): Promise<void> {
    await writeFile(`${this.#file}.new`, JSON.stringify(list))
    await rename(`${this.#file}.new`, this.#file)
  }

  /** What the server did. */
  lines(start = ''): readonly string[] {
    return readFileSync(this.#ledger, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && line.startsWith(start))
  }
}
