// Makes optional peer dependencies of durable-ptc its dependencies: `npm prune --omit=dev` keeps them then, in the
// versions of the lockfile. `node deploy/keep-packages.mjs NAME…` in a checkout of an image.
import { readFileSync, writeFileSync } from 'node:fs'

const description = JSON.parse(readFileSync('package.json', 'utf8'))
for (const name of process.argv.slice(2)) {
  const range = description.peerDependencies[name]
  if (range === undefined) throw new Error(`${name} is no optional package of durable-ptc`)
  description.dependencies[name] = range
  delete description.devDependencies[name]
}
writeFileSync('package.json', `${JSON.stringify(description, null, 2)}\n`)
