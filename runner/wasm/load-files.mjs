import fs from 'node:fs'
import path from 'node:path'
import { loadWheels } from './load-wheels.mjs'
import { capMemory } from './memory-cap.mjs'

const digestBytes = 32

/** Reads all files that the child needs, before Node is stripped. */
export function loadFiles({ pyodide, runner, memoryBytes, bootImage, filesRoot, wheels }) {
  const text = (name) => fs.readFileSync(path.join(pyodide, name), 'utf8')
  return {
    realmMain: fs.readFileSync(new URL('realm-main.mjs', import.meta.url), 'utf8'),
    loader: text('pyodide.mjs'),
    glue: text('pyodide.asm.mjs'),
    wasm: capMemory(fs.readFileSync(path.join(pyodide, 'pyodide.asm.wasm')), memoryBytes),
    standardLibrary: fs.readFileSync(path.join(pyodide, 'python_stdlib.zip')),
    // The list of installable packages is left out, because there is no network for an installation.
    lock: { info: JSON.parse(text('pyodide-lock.json')).info, packages: {} },
    runner: pythonFiles(runner),
    // The digest is skipped, because the host has verified it. Without an image Python boots, which takes longer.
    bootImage: bootImage === undefined ? undefined : fs.readFileSync(bootImage).subarray(digestBytes),
    mounted: [
      ...(filesRoot === undefined ? [] : [readMounted(filesRoot)]),
      ...(wheels === undefined ? [] : [loadWheels(wheels)]),
    ],
  }
}

/** The descriptor of the files for code; src/sandbox/wasm/interpreter/files-message.ts writes them. */
const filesDescriptor = 5

/** Returns a folder of the sandbox: the list of its files, and their contents by path. */
function readMounted(root) {
  const message = fs.readFileSync(filesDescriptor)
  fs.closeSync(filesDescriptor)
  let position = 4 + message.readUInt32BE(0)
  const list = JSON.parse(message.subarray(4, position).toString('utf8'))
  const contents = {}
  for (const file of list) {
    file.path = `${root}/${file.path}`
    contents[file.path] = message.subarray(position, (position += file.bytes))
  }
  return { root, list, contents }
}

/** Returns the sources of all Python files under a folder, by their paths in the sandbox. */
function pythonFiles(folder) {
  const files = {}
  const visit = (directory, prefix) => {
    for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
      const file = path.join(directory, entry.name)
      if (entry.isDirectory()) visit(file, `${prefix}/${entry.name}`)
      else if (entry.name.endsWith('.py')) files[`${prefix}/${entry.name}`] = fs.readFileSync(file, 'utf8')
    }
  }
  visit(folder, '')
  return files
}
