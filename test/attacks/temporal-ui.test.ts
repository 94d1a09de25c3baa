import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { startDevServer, type TemporalServer } from '../../src/dev-server/index.js'
import { describeDocker } from '../support/docker/describe-docker.js'
import { Ledger } from '../support/ledger.js'
import { answerResult, code, turn } from '../support/script.js'
import { uniqueName } from '../support/temporal/shared-server.js'
import { ledgerConfig } from '../support/environment/ledger-environment.js'
import { TestEnvironment } from '../support/environment/test-environment.js'
import { TestSession } from '../support/environment/test-session.js'
import { canaryPrefix } from './support/attack-environment.js'
import { TemporalUi } from './support/temporal-ui.js'

/** Queries that the UI sends to each workflow; a session has one more. */
const queries = ['__stack_trace', '__enhanced_stack_trace', '__temporal_workflow_metadata']

/** Starts a private server with its UI; stops with the test. */
async function startServerWithUi(): Promise<TemporalServer> {
  const signal = AbortSignal.timeout(150_000)
  const server = await startDevServer({ ui: true, onProgress: () => undefined, signal })
  onTestFinished(() => server.close())
  return server
}

describeDocker("Temporal's web UI", () => {
  it("A17 Temporal's web UI shows no secret of the worker while code waits, fails and completes", async () => {
    const canary = `${canaryPrefix}${randomUUID()}`
    const server = await startServerWithUi()
    const ledger = await Ledger.start()
    const source = 'import os\nprint(dict(os.environ))\nawait charge(name="rent")'
    const env = await TestEnvironment.startProcesses({
      script: [turn(code(source)), answerResult],
      address: server.address,
      config: ledgerConfig,
      environment: {
        ANTHROPIC_API_KEY: canary,
        PTC_ATTACK_CANARY: canary,
        LEDGER_URL: `${ledger.url}/?key=${canary}`,
      },
      initialWorkers: [{ hostId: uniqueName('shown') }],
    })

    const ui = new TemporalUi(server.uiUrl ?? '', server.namespace)
    const session = TestSession.create(env)
    const agent = await env.startAgent({ question: 'What is in your environment?' })
    const everything = async (): Promise<string> => {
      const parts = [
        await ui.readNamespace([env.taskQueue, `${env.taskQueue}.workflow`, `${env.taskQueue}.sandbox`]),
        await ui.readWorkflow(agent.workflowId, queries),
        await ui.readWorkflow(session.handle.workflowId, [...queries, 'inspect']),
      ]
      return parts.join('\n')
    }

    ledger.holdReplies('rent')
    const executing = session.execute(`${source}\nraise ValueError(str(dict(os.environ)))`)
    await ledger.waitForRequests('rent', 2)
    const waiting = await everything()
    ledger.releaseReplies('rent')
    await Promise.all([agent.result(), executing])
    await env.ptc.sessions.close(session.name)
    const over = await everything()

    for (const shown of [waiting, over]) {
      // The UI does have the source, the summaries and the query results.
      for (const known of ['print(dict(os.environ))', 'charge rent', 'run cell 1', 'inspect'])
        expect(shown).toContain(known)
      expect(shown.includes(canary), 'the secret is in the UI').toBe(false)
    }
    expect(over).toContain('PYTHONHASHSEED')
  })
})
