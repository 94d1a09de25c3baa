import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'

/** The part of the front matter of a test that decides how it runs. */
const frontMatter = z.object({
  flags: z.array(z.string()).default([]),
  includes: z.array(z.string()).default([]),
  features: z.array(z.string()).default([]),
  negative: z.object({ phase: z.string(), type: z.string() }).optional(),
})

/** A test of test262 as cells. */
export interface Test262Test {
  /** Its file, in the folder of its module. */
  readonly name: string
  /** Declares what the test uses. */
  readonly prelude: string
  readonly source: string
  /** The test has passed when it has printed this. */
  readonly completion: string | undefined
  /** The test has passed when it fails with this error. */
  readonly error: string | undefined
}

/** Cells are no modules, do not block, and have no functions of the host. */
const unsupportedFlags = ['module', 'raw', 'CanBlockIsTrue']

/** Proposals that neither V8 nor QuickJS has by default. */
const unsupportedFeatures = ['Temporal', 'ShadowRealm', 'decorators', 'import-defer', 'source-phase-imports']

/**
 * Reads every n-th test of a module that cells can run. The same tests for each sandbox.
 *
 * @param folder a checkout of https://github.com/tc39/test262
 * @param module a folder in `test/`, such as `language`
 */
export function readTests(folder: string, module: string, every: number): readonly Test262Test[] {
  const root = join(folder, 'test', module)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js') && !file.endsWith('_FIXTURE.js'))
    .toSorted()
  return files
    .filter((_, index) => index % every === 0)
    .flatMap((name) => readTest(folder, name, readFileSync(join(root, name), 'utf8')))
}

function readTest(folder: string, name: string, text: string): readonly Test262Test[] {
  const { flags, includes, features, negative } = frontMatter.parse(
    parse(/\/\*---([^]*?)---\*\//.exec(text)?.[1] ?? '{}'),
  )
  const isUnsupported =
    flags.some((flag) => unsupportedFlags.includes(flag)) ||
    features.some((feature) => unsupportedFeatures.includes(feature)) ||
    negative?.phase === 'resolution' ||
    text.includes('$262')
  if (isUnsupported) return []
  const isAsync = flags.includes('async')
  const harness = ['assert.js', 'sta.js', ...(isAsync ? ['doneprintHandle.js'] : []), ...includes]
  const prelude = harness.map((file) => readFileSync(join(folder, 'harness', file), 'utf8')).join('\n')
  if (prelude.includes('$262')) return []
  return [
    {
      name,
      // Functions of a cell are no properties of the global object, where asyncHelpers.js looks for this one.
      prelude: `globalThis.print = console.log\n${prelude}${isAsync ? '\nglobalThis.$DONE = $DONE' : ''}`,
      source: flags.includes('onlyStrict') ? `"use strict";\n${text}` : text,
      completion: isAsync ? 'Test262:AsyncTestComplete' : undefined,
      error: negative?.type,
    },
  ]
}
