import { type CodecServer, type CodecServerOptions, startCodecServer } from '../../codec-server/index.js'
import { openStore } from '../../values/open-store.js'
import { Values } from '../../values/values.js'
import { keysOf, type Project } from './project.js'

/**
 * A codec server with the value store and the encryption keys of a project.
 *
 * @throws PtcError CONFIG_INVALID, and what opening a store throws
 */
export async function openCodecServer(
  project: Pick<Project, 'store' | 'config' | 'currentKeyId'>,
  options: Omit<CodecServerOptions, 'values' | 'keys'>,
): Promise<CodecServer> {
  const keys = keysOf(project)
  // A person waits for the page: an unavailable store is not retried.
  const values = new Values({ store: await openStore(project.store, keys), retryForMs: 0 })
  try {
    const server = await startCodecServer({ ...options, values, keys })
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
