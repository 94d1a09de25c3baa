import { readFileSync } from 'node:fs'
import { inflateSync } from 'node:zlib'
import { defaultLimits } from '../../../dist/common/run/limits.js'
import type { DockerBackend } from '../../../dist/sandbox/docker/index.js'
import type { ModuleRun } from '../compare.js'
import { type Ended, type Place, runContainer, runInRunner } from '../run.js'
import { humanEvalScript } from './human-eval.js'

const place: Place = {
  language: 'python',
  limits: {
    ...defaultLimits,
    /** Limit of a module. Both runs have the same. */
    cellSeconds: Number(process.env['PTC_COMPARE_SECONDS'] ?? 300),
    /** Twice the default: test_ast needs all of that, and the runner itself needs some MiB. */
    memoryBytes: 2 * defaultLimits.memoryBytes,
  },
}

const script = readFileSync(new URL('run_tests.py', import.meta.url), 'utf8')
const scriptFor = (module: string): string =>
  module === 'human-eval' ? humanEvalScript() : script.replace('test.MODULE', `test.${module}`)

/** Runs a module in a container of plain Python. */
export async function runPlain(image: string, module: string): Promise<ModuleRun> {
  return parse(await runPython(image, scriptFor(module)))
}

/** The names of all modules. A test package is listed by its modules. */
export async function allModules(image: string): Promise<string[]> {
  const source = `
import os, test
root = os.path.dirname(test.__file__)
for name in sorted(os.listdir(root)):
    if not name.startswith("test_"): continue
    if name.endswith(".py"): print(name[:-3])
    elif os.path.isdir(os.path.join(root, name)):
        inner = sorted(one[:-3] for one in os.listdir(os.path.join(root, name)) if one.startswith("test_") and one.endswith(".py"))
        print("\\n".join(f"{name}.{one}" for one in inner) or name)
`
  const { ended, text } = await runPython(image, source)
  const modules = text.trim().split(/\s+/)
  if (modules.length < 2) throw new Error(`no tests of CPython in ${image} (${ended})`)
  return modules
}

function runPython(image: string, source: string): Promise<Ended> {
  return runContainer(image, place, (interpreter) => [...interpreter, '-c', source])
}

/** Runs a module as a cell of a new session. */
export async function runInCell(backend: DockerBackend, module: string): Promise<ModuleRun> {
  return parse(await runInRunner(backend, place, [scriptFor(module)]))
}

/** The outcomes that run_tests.py printed, or how the module ended when it printed none. */
function parse({ ended, text }: Ended): ModuleRun {
  const result = /RESULT:([A-Za-z0-9+/=]+):END/.exec(text)?.[1]
  if (result === undefined) return { outcomes: { '(module)': ended }, problems: text.slice(-2_000) }
  return JSON.parse(inflateSync(Buffer.from(result, 'base64')).toString()) as ModuleRun
}
