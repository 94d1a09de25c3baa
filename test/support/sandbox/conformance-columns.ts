import type { BackendCapabilities } from '../../../src/sandbox/conformance/conformance-context.js'
import type { ConformanceOptions } from '../../../src/sandbox/conformance/suite.js'

/** A language in a kind of sandbox: a column of `docs/languages.md`, with the claims that its tests use. */
export interface ConformanceColumn {
  readonly language: string
  readonly title: string
  readonly capabilities: BackendCapabilities
}

const docker = {
  supportsReattach: true,
  supportsInterrupt: true,
  supportsProcesses: true,
  providesIsolation: true,
  supportsFiles: true,
  supportsRunFiles: true,
  supportsNetwork: true,
  supportsContents: true,
}

const embedded = { ...docker, supportsReattach: false, supportsProcesses: false, supportsNetwork: false }

const embeddedScripts = { ...embedded, supportsFiles: false, supportsRunFiles: false }

export const conformanceColumns = {
  dockerPython: { language: 'python', title: 'Python, Docker', capabilities: docker },
  embeddedPython: { language: 'python', title: 'Python, embedded', capabilities: embedded },
  dockerJavaScript: { language: 'javascript', title: 'JavaScript, Docker', capabilities: docker },
  dockerTypeScript: { language: 'typescript', title: 'TypeScript, Docker', capabilities: docker },
  embeddedJavaScript: { language: 'javascript', title: 'JavaScript, embedded', capabilities: embeddedScripts },
  embeddedTypeScript: { language: 'typescript', title: 'TypeScript, embedded', capabilities: embeddedScripts },
  dockerBash: { language: 'bash', title: 'Bash, Docker', capabilities: docker },
} as const satisfies Readonly<Record<string, ConformanceColumn>>

/** The options of the suite for a column. */
export function conformanceOptions(
  column: keyof typeof conformanceColumns,
  makeBackend: ConformanceOptions['makeBackend'],
  more: Partial<BackendCapabilities> = {},
): ConformanceOptions {
  const { language, capabilities } = conformanceColumns[column]
  return { makeBackend, language, ...capabilities, ...more }
}
