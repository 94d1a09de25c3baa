import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { runnerDirectory } from '../../runner-directory.js'
import { pyodideFolder } from './jail-command.js'

interface MemoryCap {
  readonly capMemory: (wasm: Uint8Array, bytes: number) => Uint8Array
}

const { capMemory } = (await import(
  pathToFileURL(path.join(runnerDirectory, 'wasm', 'memory-cap.mjs')).href
)) as unknown as MemoryCap

/** A module with one memory of 1 to 1,000 pages, exported as `m`. */
const module = new Uint8Array(Buffer.from('0061736d010000000505010101e807070501016d0200', 'hex'))
const withoutMaximum = new Uint8Array(Buffer.from('0061736d010000000503010001070501016d0200', 'hex'))
const shared = new Uint8Array(Buffer.from('0061736d010000000504010301e807', 'hex'))
const page = 65_536

test('the memory of a capped module does not grow past the cap', async () => {
  const { m: memory } = await instantiate(capMemory(module, 10 * page + 1))
  memory.grow(9)
  expect(() => memory.grow(1)).toThrow(RangeError)
})

test('a cap above the maximum of the module changes nothing', () => {
  expect(capMemory(module, 5_000 * page)).toEqual(module)
})

test('a cap below the memory for the start of the module is refused', () => {
  expect(() => capMemory(module, page - 1)).toThrow('it needs 65536')
})

test('a memory without a maximum gets one', async () => {
  const { m: memory } = await instantiate(capMemory(withoutMaximum, 200 * page))
  memory.grow(199)
  expect(() => memory.grow(1)).toThrow(RangeError)
})

test('a module without a memory, or with a shared one, is refused', () => {
  expect(() => capMemory(module.subarray(0, 8), page)).toThrow('defines no memory')
  expect(() => capMemory(shared, page)).toThrow('one plain memory')
})

test("Pyodide's own module can be capped", () => {
  const wasm = readFileSync(path.join(pyodideFolder(), 'pyodide.asm.wasm'))
  const capped = capMemory(wasm, 256 * 1024 * 1024)
  expect(capped).not.toEqual(Uint8Array.from(wasm))
})

/** The types of WebAssembly are in TypeScript's DOM library only, which this project does not use. */
interface Engine {
  readonly instantiate: (wasm: Uint8Array) => Promise<{
    readonly instance: { readonly exports: { readonly m: { readonly grow: (pages: number) => number } } }
  }>
}

async function instantiate(wasm: Uint8Array) {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: Engine }
  return (await WebAssembly.instantiate(wasm)).instance.exports
}
