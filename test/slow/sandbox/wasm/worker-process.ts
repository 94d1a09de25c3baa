// A worker that a test kills: opens a sandbox with the given runner, starts an endless loop, and sends a message.
import { createWasmBackend } from '../../../../src/sandbox/wasm/backend.js'
import { createSpec } from '../../../support/sandbox/create-spec.js'
import { AttackClient } from '../../../support/sandbox/wasm-sandbox.js'

const runner = process.argv[2] ?? ''
const backend = createWasmBackend({ runner, warm: 0 })
const connection = await backend.open(createSpec('orphan'), new AbortController().signal)
const attacker = new AttackClient(connection)
await attacker.run('answer = 1')
await attacker.send('while True: pass')
process.send?.('looping')
