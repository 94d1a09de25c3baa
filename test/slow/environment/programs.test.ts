import { expect, it } from 'vitest'
import { defineAgent } from '../../../src/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, call, turn } from '../../support/script.js'

const cell = (language: string, code: string) => call('execute_code', { language, code })

const python = `
import json, subprocess
def environment(*words, **options):
    done = subprocess.run(["environment", *words], capture_output=True, text=True, **options)
    return done.returncode, done.stdout or done.stderr
print(environment("edit_file", "path=a.txt", "old_text=one", "new_text=two"))
print(environment("read_file", "-", input=json.dumps({"path": "a.txt"})))
print(environment("read_file", "path=/etc/passwd"))
print(environment("read_file", "lines=1"))
print(environment("execute_command", "command=ls"))`

describeDocker('environment tools for programs', () => {
  it.each([true, false])(
    'programs have the file tools as a command when the agent has them: %j',
    async (environment) => {
      const agent = defineAgent({
        name: 'coder',
        instructions: 'You write code.',
        language: ['bash', 'python', 'javascript'],
        environment,
      })
      const env = await TestEnvironment.start({
        backend: 'docker',
        agents: [agent],
        script: [
          turn(
            cell(
              'bash',
              'environment write_file path=a.txt content="one=1" && environment grep pattern=one path=a.txt',
            ),
          ),
          turn(cell('python', python)),
          turn(
            cell(
              'javascript',
              'console.log(require("node:child_process").execFileSync("environment", ["list_files"], { encoding: "utf8" }))',
            ),
          ),
          answerResult,
        ],
      })
      const handle = await env.startAgent({ agent: 'coder' })
      await env.agentResult(handle)
      const cells = (await env.ptc.handle(handle.workflowId).tree()).turns.flatMap((each) => each.cells)
      const [bash, ofPython, javascript] = cells
      const sent = JSON.stringify(env.api.requests[0]?.body)
      expect(sent.includes('environment --help')).toBe(environment)
      if (!environment) {
        expect(bash?.error).toBe('exit code 69')
        expect(bash?.output).toContain('environment: the run has no environment')
        return
      }
      expect(bash?.output).toBe('created /tmp/a.txt: 5 bytes\na.txt:1: one=1\n')
      expect(ofPython?.output.split('\n')).toEqual([
        "(0, 'replaced 1 occurrence in /tmp/a.txt, the first at line 1\\n')",
        "(0, 'two=1')",
        "(1, 'environment: path_outside: /etc/passwd is outside of /tmp and /skills, or a link leads out of them\\n')",
        "(2, 'environment: invalid_arguments: read_file has no lines; it takes path, first_line, line_count\\n')",
        "(2, 'environment: there is no tool execute_command; there are read_file, write_file, edit_file, list_files, grep\\n')",
        '',
      ])
      expect(javascript?.output).toContain('{"path": "a.txt", "type": "file", "size": 5}')
      await env.expectCleanEnd(handle)
    },
  )
})
