import { type CodecServer, type CodecServerOptions, startCodecServer } from '../../codec-server/index.js'
import { openStore } from '../../values/open-store.js'
import { Values } from '../../values/values.js'
import type { Project } from './project.js'

/**
 * A codec server with the value store of a project.
 *
 * @throws PtcError CONFIG_INVALID, and what opening a store throws
 */
export async function openCodecServer(
  store: Project['store'],
  options: Omit<CodecServerOptions, 'values'>,
): Promise<CodecServer> {
  // A person waits for the page: an unavailable store is not retried.
  const values = new Values({ store: await openStore(store), retryForMs: 0 })
  try {
    const server = await startCodecServer({ ...options, values })
    return {
      ...server,
      async close() {
        await server.close()
        await values.close()
      },
    }
  } catch (thrown) {
    await values.close()
    throw thrown
  }
}
