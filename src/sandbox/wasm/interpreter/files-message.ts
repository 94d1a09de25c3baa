import type { SandboxFiles } from '../../sandbox-files.js'

/**
 * The files of a sandbox for its child process: the length of a JSON text in 4 bytes, the text, which lists the files,
 * and their contents in this order. runner/wasm/load-files.mjs reads it.
 */
export function toFilesMessage({ entries }: SandboxFiles): Uint8Array {
  const list = entries.map(({ path, isExecutable, content }) => ({ path, isExecutable, bytes: content.byteLength }))
  const text = Buffer.from(JSON.stringify(list))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.byteLength)
  return Buffer.concat([length, text, ...entries.map(({ content }) => content)])
}
