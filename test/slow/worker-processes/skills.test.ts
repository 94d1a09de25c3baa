import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { backends } from '../../support/environment/backends.js'
import { killContainer } from '../../support/environment/containers.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { pollOptions } from '../../support/poll-options.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { skillsFolder, skillText, writeFiles } from '../../support/skills/skill-folder.js'

const config = fileURLToPath(new URL('../../fixtures/skills/skills.config.ts', import.meta.url))

const load = 'import runpy\nmodule = runpy.run_path("/skills/report/scripts/total.py")\n'

it.each(backends)(
  'after kill -9 of the worker and of the sandbox, code runs the script of the start of the run, in %s',
  async (backend) => {
    const folder = await temporaryFolder()
    const token = join(folder, 'token')
    const skills = await skillsFolder({
      'report/SKILL.md': skillText('report', 'Call total().'),
      'report/scripts/total.py': 'def total(): return "version 1"\n',
    })
    const env = await TestEnvironment.startProcesses({
      script: [
        turn(call('activate_skill', { name: 'report' })),
        turn(code(`${load}print(module["total"]())\nprint(await approve())\n${load}print(module["total"]())`)),
        answerResult,
      ],
      config,
      environment: {
        TEST_SKILLS: skills,
        TEST_TOKEN: token,
        TEST_VALUES: join(folder, 'values'),
        TEST_BACKEND: backend,
        TEST_WARM: backend === 'docker' ? '1' : '0',
      },
      store: { kind: 'local', directory: join(folder, 'values') },
    })
    const handle = await env.startAgent()
    await expect.poll(() => existsSync(token), pollOptions).toBe(true)
    await env.workers.kill()
    if (backend === 'docker') await killContainer(handle)
    await writeFiles(skills, { 'report/scripts/total.py': 'def total(): return "version 2"\n' })
    await env.workers.start()
    await env.ptc.completeCall(await readFile(token, 'utf8'), 'approved')
    expect(await env.agentResult(handle)).toMatchObject({ answer: 'version 1\napproved\nversion 1' })
    await env.expectCleanEnd(handle)
  },
)
