// A worker to be killed: opens a sandbox with the given runner, sends it into an endless loop, and says so.
import { createWasmBackend } from '../../src/sandbox/wasm/backend.js'
import { Attacker, specOf } from './wasm-support.js'

const runner = process.argv[2] ?? ''
const backend = createWasmBackend({ runner, warm: 0 })
const connection = await backend.open(specOf('orphan'), new AbortController().signal)
const attacker = new Attacker(connection)
await attacker.run('answer = 1')
await attacker.send('while True: pass')
process.send?.('looping')
