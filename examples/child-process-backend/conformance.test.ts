import { after, test } from 'node:test'
import { sandboxConformance } from 'durable-ptc/sandbox/conformance'
import { ChildProcessBackend } from './backend.js'

const suite = sandboxConformance({
  makeBackend: () => new ChildProcessBackend(),
  supportsReattach: false,
  supportsInterrupt: true,
  supportsProcesses: true,
  providesIsolation: false,
  supportsNetwork: true,
  supportsContents: true,
})

after(() => suite.close())
for (const { name, timeoutMs, run } of suite.cases) void test(name, { timeout: timeoutMs }, run)
for (const { name, missing } of suite.skipped) void test(name, { skip: `no ${missing.join(', ')}` })
