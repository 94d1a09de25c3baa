import { defaultLimits } from '../../dist/common/run/limits.js'
import type { SandboxBackend } from '../../dist/sandbox/backend.js'
import { createDockerBackend } from '../../dist/sandbox/docker/index.js'
import { createWasmBackend } from '../../dist/sandbox/wasm/index.js'
import type { Place } from './run.js'

export const javascriptCell: Place = { language: 'javascript', limits: { ...defaultLimits, cellSeconds: 30 } }

/** Kinds of sandboxes that run JavaScript. A comparison has a list of differences for each of them. */
const backends: Readonly<Record<string, () => SandboxBackend>> = {
  docker: () => createDockerBackend(),
  wasm: () => createWasmBackend({ language: 'javascript' }),
}

/** The sandbox of a kind. Throws how a comparison is started when there is no such kind. */
export function openSandboxes(kind: string, usage: string): SandboxBackend {
  const open = backends[kind]
  if (open === undefined) throw new Error(`usage: ${usage} [${Object.keys(backends).join('|')}]`)
  return open()
}
