import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

/** Properties of the Node that runs in the jail; Linux only. */
export interface NodeInfo {
  /** The shared libraries with which Node is linked. */
  readonly libraries: readonly string[]
  /**
   * Private writable memory at rest, as the kernel counts it: 50 MB in Node 20 and 22; 24 reserves 512 MB more for
   * code.
   */
  readonly dataBytes: number
}

const script = `process.stdout.write(JSON.stringify({
  libraries: process.report.getReport().sharedObjects,
  status: require('node:fs').readFileSync('/proc/self/status', 'utf8'),
}))`

/** Reads the properties from a new Node process, because this process may have loaded more libraries. */
export async function inspectNode(timeoutMs: number): Promise<NodeInfo> {
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env: {}, timeout: timeoutMs })
  const { libraries, status } = JSON.parse(stdout) as { readonly libraries: readonly string[]; readonly status: string }
  return {
    libraries: libraries.filter((library) => path.isAbsolute(library)),
    dataBytes: Number(/^VmData:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024,
  }
}
