// `npm run release`: turns the files of `.changeset/` into a new version and its section of the CHANGELOG. It only
// changes files; publishing is a separate step after a review (CONTRIBUTING.md). Changesets runs through npx: it is
// needed once per release, and its 103 packages are not part of every `npm ci`.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, stop } from './setup.mjs'

run('npx', ['--yes', '@changesets/cli@2.31.1', 'version'])
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
// Changesets does not change package-lock.json.
run('npm', ['version', version, '--allow-same-version', '--no-git-tag-version', '--ignore-scripts'])

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) stop(`${command} ${args.join(' ')} failed; its own message above says why.`)
}
