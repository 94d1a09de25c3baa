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
import { crashPointSource, withoutCrashPoints } from './crash-points.mjs'
import { progress, root, setup, stop } from './setup.mjs'
import { digestOfFiles, filesUnder, isAsset, isTest, outputsOf } from './sources.mjs'

const src = join(root, 'src')

/** What is shipped, and the same with its crash points, for tests that kill. */
const builds = {
  shipped: { folder: join(root, 'dist'), keepsCrashPoints: false },
  chaos: { folder: join(root, 'dist-chaos'), keepsCrashPoints: true },
}

/** Brings a build up to date; ends the process when a source does not compile. */
export async function build(which = 'shipped') {
  const { folder, keepsCrashPoints } = builds[which]
  const workflows = join(folder, 'workflows/index.js')
  const bundle = join(folder, 'workflow-bundle.js')
  const sources = filesUnder(src).filter((path) => !isTest(path) && (keepsCrashPoints || path !== crashPointSource))
  const digest = digestOf(sources)
  const bundled = digestOf(sources.filter((path) => /^(workflows|common)\//.test(path)))
  const last = readStamp(which)
  const outputsThere = sources.flatMap(outputsOf).every((path) => existsSync(join(folder, path)))

  let compiled = true
  if (last.digest !== digest || !outputsThere) {
    progress(`compiling${which === 'shipped' ? '' : ` (${which})`}`)
    compiled = compile(folder)
    if (!keepsCrashPoints) removeCrashPoints(folder, sources)
    copyAssets(folder, sources)
    const executable = join(folder, 'client/cli/main.js')
    if (existsSync(executable)) chmodSync(executable, 0o755)
  }
  removeStale(folder, sources, existsSync(workflows))
  // The bundle is made even when types are wrong somewhere: one run then tells of everything that is wrong.
  if (existsSync(workflows) && (last.bundled !== bundled || !existsSync(bundle))) {
    progress('bundling workflows')
    await bundleWorkflows(folder, bundle)
  }
  writeStamp(which, { digest: compiled ? digest : undefined, bundled })
  if (!compiled) stop('the sources do not compile; see above.')
}

function digestOf(sources) {
  return digestOfFiles(root, [
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts/crash-points.mjs',
    ...sources.map((path) => `src/${path}`),
  ])
}

function compile(folder) {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  return (
    spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', folder], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    }).status === 0
  )
}

function removeCrashPoints(folder, sources) {
  for (const path of sources.flatMap(outputsOf).filter((path) => path.endsWith('.js'))) {
    const file = join(folder, path)
    if (!existsSync(file)) continue
    const text = readFileSync(file, 'utf8')
    const shipped = withoutCrashPoints(text, path)
    if (shipped !== text) writeFileSync(file, shipped)
  }
}

function copyAssets(folder, sources) {
  for (const path of sources.filter(isAsset)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(join(src, path), join(folder, path))
  }
}

/** What a deleted or renamed source left behind would still be importable, and be published. */
function removeStale(folder, sources, hasWorkflows) {
  const expected = new Set(sources.flatMap(outputsOf))
  for (const path of filesUnder(folder)) {
    const isBundle = path.startsWith('workflow-bundle.js')
    if (isBundle ? !hasWorkflows : !expected.has(path)) rmSync(join(folder, path))
  }
}

async function bundleWorkflows(folder, bundle) {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker')
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(folder, 'workflows/index.js'),
    workflowInterceptorModules: [join(folder, 'workflows/query-guard.js')],
    logger: new DefaultLogger('WARN'),
  })
  // By rename: a worker that starts meanwhile reads the old bundle or the new one, never half of one.
  const unfinished = `${bundle}.${process.pid}`
  writeFileSync(unfinished, code)
  renameSync(unfinished, bundle)
}

// Kept in node_modules: out of the package, and gone with the dependencies that the outputs depend on.
function stampFile(which) {
  return join(root, `node_modules/.cache/durable-ptc/build-${which}.json`)
}

function readStamp(which) {
  try {
    return JSON.parse(readFileSync(stampFile(which), 'utf8'))
  } catch {
    return {}
  }
}

function writeStamp(which, stamp) {
  mkdirSync(dirname(stampFile(which)), { recursive: true })
  writeFileSync(stampFile(which), JSON.stringify(stamp))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const which = process.argv[2] ?? 'shipped'
  if (!(which in builds)) stop(`no build ${which}; there are ${Object.keys(builds).join(', ')}.`)
  setup()
  await build(which)
}
