import type { ConformanceOptions } from '../../../src/sandbox/conformance/suite.js'

/** What the Kubernetes backend claims. */
export function kubernetesConformance(makeBackend: ConformanceOptions['makeBackend']): ConformanceOptions {
  return {
    makeBackend,
    language: 'python',
    supportsReattach: true,
    supportsInterrupt: true,
    supportsProcesses: true,
    providesIsolation: true,
    supportsFiles: true,
    supportsRunFiles: true,
    supportsNetwork: true,
    supportsContents: true,
  }
}
