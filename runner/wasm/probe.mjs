// Prints that a jail with these layers works. Writes to the descriptor, because process.stdout needs more of Node.
import fs from 'node:fs'

fs.writeSync(1, 'jailed')
