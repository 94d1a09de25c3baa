// `npm run build`: src to dist with the TypeScript compiler, then the prebuilt workflow bundle. Does nothing when nothing changed.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { progress, root, setup, stop } from './setup.mjs'
import { digestOfFiles, filesUnder, isAsset, isTest, outputsOf } from './sources.mjs'

const src = join(root, 'src')
const dist = join(root, 'dist')
const executable = join(dist, 'client/cli/main.js')
const bundle = join(dist, 'workflow-bundle.js')
const workflows = join(dist, 'workflows/index.js')

// Kept in node_modules: out of the package, and gone with the dependencies that the outputs depend on.
const stampFile = join(root, 'node_modules/.cache/durable-ptc/build.json')

/** Brings dist up to date; ends the process when a source does not compile. */
export async function build() {
  const sources = filesUnder(src).filter((path) => !isTest(path))
  const digest = digestOf(sources)
  const bundled = digestOf(sources.filter((path) => /^(workflows|common)\//.test(path)))
  const last = readStamp()
  const outputsThere = sources.flatMap(outputsOf).every((path) => existsSync(join(dist, path)))

  let compiled = true
  if (last.digest !== digest || !outputsThere) {
    progress('compiling')
    compiled = compile()
    copyAssets(sources)
    if (existsSync(executable)) chmodSync(executable, 0o755)
  }
  removeStale(sources)
  // The bundle is made even when types are wrong somewhere: one run then tells of everything that is wrong.
  if (existsSync(workflows) && (last.bundled !== bundled || !existsSync(bundle))) {
    progress('bundling workflows')
    await bundleWorkflows()
  }
  writeStamp({ digest: compiled ? digest : undefined, bundled })
  if (!compiled) stop('the sources do not compile; see above.')
}

function digestOf(sources) {
  return digestOfFiles(root, [
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    ...sources.map((path) => `src/${path}`),
  ])
}

function compile() {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  return (
    spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: root, stdio: ['ignore', 2, 2] })
      .status === 0
  )
}

function copyAssets(sources) {
  for (const path of sources.filter(isAsset)) {
    mkdirSync(dirname(join(dist, path)), { recursive: true })
    copyFileSync(join(src, path), join(dist, path))
  }
}

/** What a deleted or renamed source left behind would still be importable, and be published. */
function removeStale(sources) {
  const expected = new Set(sources.flatMap(outputsOf))
  for (const path of filesUnder(dist)) {
    const isBundle = path.startsWith('workflow-bundle.js')
    if (isBundle ? !existsSync(workflows) : !expected.has(path)) rmSync(join(dist, path))
  }
}

async function bundleWorkflows() {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker')
  const { code } = await bundleWorkflowCode({ workflowsPath: workflows, logger: new DefaultLogger('WARN') })
  // By rename: a worker that starts meanwhile reads the old bundle or the new one, never half of one.
  const unfinished = `${bundle}.${process.pid}`
  writeFileSync(unfinished, code)
  renameSync(unfinished, bundle)
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'))
  } catch {
    return {}
  }
}

function writeStamp(stamp) {
  mkdirSync(dirname(stampFile), { recursive: true })
  writeFileSync(stampFile, JSON.stringify(stamp))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  setup()
  await build()
}
