import { prints } from '../expectations.js'
import type { CaseDefinition } from '../conformance-context.js'

/** What only JavaScript in Node does. */
export const nodeCases: readonly CaseDefinition[] = [
  prints(
    'the clock stands still while local work takes time',
    `
const { promisify } = require("node:util")
const begun = [performance.now(), Date.now()]
await promisify(require("node:child_process").exec)("sleep 0.1")
console.log((performance.now() - begun[0]).toFixed(3), Date.now() - begun[1])`,
    '0.002 0\n',
    { requires: 'supportsProcesses', isFresh: true },
  ),
]
