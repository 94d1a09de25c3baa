// Says that a jail of these layers can be built here. Synchronous and by descriptor: process.stdout would need more of Node.
import fs from 'node:fs'

fs.writeSync(1, 'jailed')
