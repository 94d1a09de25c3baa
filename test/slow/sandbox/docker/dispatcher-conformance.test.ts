import { describe } from 'vitest'
import { createDockerBackend } from '../../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { conformanceOptions } from '../../../support/sandbox/conformance-columns.js'
import { describeConformance } from '../../../support/sandbox/describe-conformance.js'

describeDocker('the first of several languages in the Docker sandbox', () => {
  describe('Python', () => {
    describeConformance({ ...conformanceOptions('dockerPython', () => createDockerBackend()), language: 'python,bash' })
  })
  describe('JavaScript', () => {
    describeConformance({
      ...conformanceOptions('dockerJavaScript', () => createDockerBackend()),
      language: 'javascript,bash',
    })
  })
})
