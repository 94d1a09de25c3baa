// `npm run build`: compiles src to dist, bundles the workflow code and merges modules. Does nothing when no source
// changed.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
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
import { commonJsTypeFiles, writeCommonJsTypes } from './commonjs-types.mjs'
import { progress, root, setup, stop } from './setup.mjs'
import { digestOfFiles, filesUnder, isAsset, isTest, outputsOf } from './sources.mjs'

const src = join(root, 'src')

const folder = join(root, 'dist')

const tracingInterceptors = '@temporalio/interceptors-opentelemetry/lib/workflow-interceptors.js'

/**
 * Updates `dist`. Ends the process when a source does not compile.
 *
 * @param isMerged when false, each module stays a file of its own
 */
export async function build({ isMerged = true } = {}) {
  const workflows = join(folder, 'workflows/index.js')
  const bundles = bundlesOf()
  const sources = filesUnder(src).filter((path) => !isTest(path))
  const digest = digestOf(sources)
  const bundled = digestOf(sources.filter((path) => /^(workflows|common)\//.test(path)))
  const last = readStamp()
  const outputs = [...sources.flatMap(outputsOf), ...commonJsTypeFiles()]
  let merged = last.merged ?? []
  const outputsThere = [...outputs, ...merged].every((path) => existsSync(join(folder, path)))

  let compiled = true
  if (last.digest !== digest || merged.length > 0 !== isMerged || !outputsThere) {
    progress('compiling')
    compiled = compile()
    copyAssets(sources)
    if (compiled) writeCommonJsTypes(folder)
    const executable = join(folder, 'cli/main.js')
    if (existsSync(executable)) chmodSync(executable, 0o755)
    merged = compiled && isMerged ? await merge() : []
  }
  removeStale([...outputs, ...merged], existsSync(workflows))
  // Bundles also after a type error, so that one run reports all problems.
  const isBundled = last.bundled === bundled && bundles.every(({ path }) => existsSync(path))
  if (existsSync(workflows) && !isBundled) {
    progress('bundling workflows')
    for (const each of bundles) await bundleWorkflows(each)
  }
  writeStamp({ digest: compiled ? digest : undefined, merged, bundled })
  if (!compiled) stop('the sources do not compile; see above.')
}

/** The bundles of `src/worker/plugin/workflow-bundle.ts`. */
function bundlesOf() {
  const official = createRequire(import.meta.url).resolve(tracingInterceptors)
  const tracing = [official, join(folder, 'workflows/temporal/traced.js')]
  const lenient = { failureConverterPath: join(folder, 'workflows/temporal/lenient-failures.js') }
  const encoded = { failureConverterPath: join(folder, 'workflows/temporal/encoded-failures.js') }
  return [
    { path: join(folder, 'workflow-bundle.js'), interceptors: [], options: lenient },
    { path: join(folder, 'workflow-bundle-traced.js'), interceptors: tracing, options: lenient },
    { path: join(folder, 'workflow-bundle-encrypted.js'), interceptors: [], options: encoded },
    { path: join(folder, 'workflow-bundle-traced-encrypted.js'), interceptors: tracing, options: encoded },
  ]
}

function digestOf(sources) {
  return digestOfFiles(root, [
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'package.json',
    'scripts/commonjs-types.mjs',
    'scripts/merge-modules.mjs',
    ...sources.map((path) => `src/${path}`),
  ])
}

function compile() {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  return (
    spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', folder], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    }).status === 0
  )
}

async function merge() {
  progress('merging modules')
  const { mergeModules } = await import('./merge-modules.mjs')
  return mergeModules(folder)
}

function copyAssets(sources) {
  for (const path of sources.filter(isAsset)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    copyFileSync(join(src, path), join(folder, path))
  }
}

/** Removes the outputs of deleted sources, which would be importable and published. */
function removeStale(outputs, hasWorkflows) {
  const expected = new Set(outputs)
  for (const path of filesUnder(folder)) {
    const isBundle = /^workflow-bundle(-traced)?(-encrypted)?\.js/.test(path)
    if (isBundle ? !hasWorkflows : !expected.has(path)) rmSync(join(folder, path))
  }
}

async function bundleWorkflows({ path, interceptors, options }) {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker')
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(folder, 'workflows/index.js'),
    workflowInterceptorModules: [...interceptors, join(folder, 'workflows/temporal/interceptors.js')],
    preloadModules: [join(folder, 'workflows/preload.js')],
    logger: new DefaultLogger('WARN'),
    ...options,
  })
  // By rename: a worker that starts meanwhile never reads a partial bundle.
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, withoutSources(code))
  renameSync(unfinished, path)
}

/** The source map without the texts of the sources: a worker parses it when it starts. */
function withoutSources(code) {
  const start = code.lastIndexOf('base64,') + 'base64,'.length
  const { sourcesContent: _, ...map } = JSON.parse(Buffer.from(code.slice(start), 'base64').toString())
  return code.slice(0, start) + Buffer.from(JSON.stringify(map)).toString('base64')
}

// In node_modules, so the file is not published, and is deleted with the dependencies that the outputs depend on.
const stampFile = join(root, 'node_modules/.cache/durable-ptc/build.json')

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
