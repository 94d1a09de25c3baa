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
const withoutMaximum = new Uint8Array(Buffer.from('0061736d010000000503010001', 'hex'))
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

test('a module without a memory, or without a maximum, is refused', () => {
  expect(() => capMemory(module.subarray(0, 8), page)).toThrow('defines no memory')
  expect(() => capMemory(withoutMaximum, page)).toThrow('one memory with a maximum')
})

test("Pyodide's own module can be capped", () => {
  const wasm = readFileSync(path.join(pyodideFolder(), 'pyodide.asm.wasm'))
  const capped = capMemory(wasm, 256 * 1024 * 1024)
  expect(capped.length).toBe(wasm.length)
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
