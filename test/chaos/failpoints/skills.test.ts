import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { AgentResult } from '../../../src/common/run/runs.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { skillsFolder, skillText } from '../../support/skills/skill-folder.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'

const config = fileURLToPath(new URL('../../fixtures/skills/skills.config.ts', import.meta.url))

describeDocker('a worker that dies while it opens a sandbox with files', () => {
  it.each(['open.begins', 'container.created', 'container.started', 'open.ends', 'config.loaded'] as const)(
    'a run has its files when a worker is killed at %s',
    async (point) => {
      const folder = await temporaryFolder()
      const skills = await skillsFolder({
        'report/SKILL.md': skillText('report', 'Read data.txt.'),
        'report/data.txt': 'the data',
      })
      const { env, deaths } = await startCrashingWorkers([{ point, hit: 1 }], {
        config,
        script: [
          turn(call('activate_skill', { name: 'report' })),
          turn(code('print(open("/skills/report/data.txt").read())')),
          answerResult,
        ],
        store: join(folder, 'values'),
        environment: {
          TEST_SKILLS: skills,
          TEST_TOKEN: join(folder, 'token'),
          TEST_VALUES: join(folder, 'values'),
          TEST_BACKEND: 'docker',
          TEST_WARM: '0',
        },
      })
      const handle = await env.startAgent()
      expect(((await handle.result()) as AgentResult).answer).toBe('the data')
      expect(deaths()).toBe(1)
      await env.expectCleanEnd(handle)
    },
  )
})
