// `npm run api`: writes the API report of all entry points to `api/`, and reference pages, which git ignores, to
// `docs/reference/api/`. `--check` writes nothing, and fails when the report would change. It reads `dist` as built.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { renderPages } from './api-reference.mjs'
import { build } from './build.mjs'
import { progress, root, setup } from './setup.mjs'

setup()
const isCheck = process.argv.includes('--check')
if (!isCheck) await build()

// After setup(), which installs it.
const { Extractor, ExtractorConfig, ExtractorLogLevel } = await import('@microsoft/api-extractor')

const reportFileName = 'durable-ptc.api.md'
const temporary = mkdtempSync(join(tmpdir(), 'durable-ptc-api-'))
try {
  const { apiReportChanged, extractorConfig } = Extractor.invoke(configOf(writeEntryPoint()), {
    // Writes the report. Otherwise only compares it.
    localBuild: !isCheck,
    messageCallback: printMessage,
  })
  const [{ members }] = JSON.parse(readFileSync(extractorConfig.apiJsonFilePath, 'utf8')).members
  const pages = renderPages(members)
  if (!isCheck) writePages(pages)
  else if (apiReportChanged) {
    console.error(`api/${reportFileName} differs from the types: npm run api`)
    process.exitCode = 1
  }
} finally {
  rmSync(temporary, { recursive: true })
}

/**
 * Writes a module that exports each entry point of package.json as a namespace: API Extractor reads one entry point,
 * and reports the declarations of namespaces once.
 */
function writeEntryPoint() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const lines = Object.entries(exports)
    .filter(([, entry]) => entry.types !== undefined)
    .map(([path, entry]) => {
      const name = JSON.stringify(`durable-ptc${path.slice(1)}`)
      return `export * as ${name} from ${JSON.stringify(join(root, entry.default))}\n`
    })
  const path = join(temporary, 'entry-points.d.mts')
  writeFileSync(path, lines.join(''))
  return path
}

function configOf(entryPoint) {
  const compilerOptions = { target: 'es2022', lib: ['es2023'], module: 'nodenext', moduleResolution: 'nodenext' }
  const typeRoots = [join(root, 'node_modules/@types')]
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: entryPoint,
      newlineKind: 'lf',
      compiler: {
        overrideTsconfig: {
          compilerOptions: { ...compilerOptions, strict: true, skipLibCheck: true, types: ['node'], typeRoots },
          files: [entryPoint],
        },
      },
      // Types that an exported type refers to are part of the API, whether or not they are exported.
      apiReport: {
        enabled: true,
        includeForgottenExports: true,
        reportFileName,
        reportFolder: join(root, 'api'),
        reportTempFolder: temporary,
      },
      docModel: {
        enabled: true,
        includeForgottenExports: true,
        apiJsonFilePath: join(temporary, 'durable-ptc.api.json'),
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

/** @param pages the texts, by the names of their files */
function writePages(pages) {
  const folder = join(root, 'docs/reference/api')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of pages) writeFileSync(join(folder, name), text)
  progress(`wrote api/${reportFileName} and ${pages.size} pages to docs/reference/api/`)
}
