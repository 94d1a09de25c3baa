import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

/** What the jail must know of the Node it runs; Linux only. */
export interface NodeFacts {
  /** Shared libraries it is linked with. */
  readonly libraries: readonly string[]
  /** Private writable memory at rest, as the kernel counts it: 50 MB in Node 20 and 22; 24 reserves 512 MB more for code. */
  readonly dataBytes: number
}

const script = `process.stdout.write(JSON.stringify({
  libraries: process.report.getReport().sharedObjects,
  status: require('node:fs').readFileSync('/proc/self/status', 'utf8'),
}))`

/** Asked of a fresh Node, because this process may have loaded anything. */
export async function factsOfNode(timeoutMs: number): Promise<NodeFacts> {
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env: {}, timeout: timeoutMs })
  const { libraries, status } = JSON.parse(stdout) as { readonly libraries: readonly string[]; readonly status: string }
  return {
    libraries: libraries.filter((library) => path.isAbsolute(library)),
    dataBytes: Number(/^VmData:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024,
  }
}
