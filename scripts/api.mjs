// `npm run api`: writes the API report of each entry point to `api/`, and its reference page to `docs/reference/api/`.
// `--check` writes nothing, names the files that would change, and fails when there are any. It reads `dist` as built.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from './build.mjs'
import { progress, root, setup } from './setup.mjs'

setup()
const isCheck = process.argv.includes('--check')
if (!isCheck) await build()

// After setup(), which installs them.
const { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } = await import('@microsoft/api-extractor')
const { renderPage } = await import('./api-reference.mjs')

const { exports: entries } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const temporary = mkdtempSync(join(tmpdir(), 'durable-ptc-api-'))
try {
  const files = generate()
  const changed = [...files].filter(([path, text]) => textOf(path) !== text).map(([path]) => path)
  const stale = ['api', 'docs/reference/api'].flatMap(filesOf).filter((path) => !files.has(path))
  if (isCheck) {
    for (const path of [...changed, ...stale]) console.error(`${path} differs from the types: npm run api`)
    process.exitCode = changed.length + stale.length > 0 ? 1 : 0
  } else {
    for (const path of stale) rmSync(join(root, path))
    for (const path of changed) write(path, files.get(path))
    progress(`${changed.length + stale.length} of ${files.size} files changed`)
  }
} finally {
  rmSync(temporary, { recursive: true })
}

/** @returns the texts of all reports and pages, by their paths in the repository */
function generate() {
  const configs = Object.entries(entries)
    .filter(([, entry]) => entry.types !== undefined)
    .map(([path, { types }]) => ({ specifier: join('durable-ptc', path), config: configOf(path, types) }))
  // One program for all entry points: most of the time goes into reading the types of dependencies.
  const compilerState = CompilerState.create(configs[0].config, {
    additionalEntryPoints: configs.map(({ config }) => config.mainEntryPointFilePath),
  })
  return new Map(configs.flatMap(({ specifier, config }) => filesOfEntry(specifier, config, compilerState)))
}

function filesOfEntry(specifier, config, compilerState) {
  Extractor.invoke(config, { compilerState, localBuild: true, messageCallback: printMessage })
  const name = specifier.replaceAll('/', '-')
  const [entry] = JSON.parse(readFileSync(config.apiJsonFilePath, 'utf8')).members
  const report = readFileSync(config.reportFilePath, 'utf8')
  const exported = new Set(
    [...report.matchAll(/^export (?:abstract )?(?:class|const|function|interface|type) (\w+)/gm)].map(
      ([, word]) => word,
    ),
  )
  return [
    [`api/${name}.api.md`, report],
    [`docs/reference/api/${name}.md`, renderPage(specifier, entry, exported)],
  ]
}

function configOf(path, types) {
  const name = join('durable-ptc', path).replaceAll('/', '-')
  const compilerOptions = { target: 'es2022', lib: ['es2023'], module: 'nodenext', moduleResolution: 'nodenext' }
  const typeRoots = [join(root, 'node_modules/@types')]
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(root, types),
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: { ...compilerOptions, strict: true, skipLibCheck: true, types: ['node'], typeRoots },
          files: [join(root, types)],
        },
      },
      // Types that an exported type refers to are part of the API, whether or not they are exported.
      apiReport: {
        enabled: true,
        includeForgottenExports: true,
        reportFileName: `${name}.api.md`,
        reportFolder: temporary,
        reportTempFolder: temporary,
      },
      docModel: {
        enabled: true,
        includeForgottenExports: true,
        apiJsonFilePath: join(temporary, `${name}.api.json`),
      },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
  })
}

/** Prints the messages of API Extractor's TypeScript, without its notes about itself. */
function printMessage(message) {
  if (message.category === 'Compiler') console.error(message.text)
  message.handled = true
}

function write(path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function textOf(path) {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return undefined
  }
}

function filesOf(folder) {
  try {
    return readdirSync(join(root, folder)).map((name) => `${folder}/${name}`)
  } catch {
    return []
  }
}
