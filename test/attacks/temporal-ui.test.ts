import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import Dockerode from 'dockerode'
import { expect, it, onTestFinished } from 'vitest'
import { createPtcClient } from '../../src/client/index.js'
import { sessionWorkflowId } from '../../src/client/sessions/session-name.js'
import { startScriptedMessagesApi } from '../../src/testing/index.js'
import { startDevServer, type TemporalServer } from '../../src/cli/dev-server/index.js'
import { describeDocker } from '../support/docker/describe-docker.js'
import { Ledger } from '../support/ledger.js'
import { answerResult, code, turn } from '../support/script.js'
import { uniqueName } from '../support/temporal/shared-server.js'
import { WorkerProcess } from '../support/environment/worker-process.js'
import { canaryPrefix } from './support/attack-environment.js'
import { TemporalUi } from './support/temporal-ui.js'

const config = fileURLToPath(new URL('../fixtures/ledger.config.ts', import.meta.url))

/** Queries that the UI sends to each workflow; a session has one more. */
const queries = ['__stack_trace', '__enhanced_stack_trace', '__temporal_workflow_metadata']

/** Starts a private server with its UI; stops with the test. */
async function serverWithUi(): Promise<{ readonly server: TemporalServer; readonly client: Client }> {
  const signal = AbortSignal.timeout(150_000)
  const server = await startDevServer({ ui: true, onProgress: () => undefined, signal })
  onTestFinished(() => server.close())
  const connection = await Connection.connect({ address: server.address })
  onTestFinished(() => connection.close())
  return { server, client: new Client({ connection, namespace: server.namespace }) }
}

describeDocker("Temporal's web UI", () => {
  it('A17 shows no secret of the worker while code waits, after it failed, and after it completed', async () => {
    const canary = `${canaryPrefix}${randomUUID()}`
    const { server, client } = await serverWithUi()
    const ledger = await Ledger.start()
    const source = 'import os\nprint(dict(os.environ))\nawait charge(name="rent")'
    const api = await startScriptedMessagesApi({ script: [turn(code(source)), answerResult] })
    onTestFinished(() => Promise.all([ledger.close(), api.close()]).then(() => undefined))
    const taskQueue = uniqueName('shown')
    const environment = {
      TEMPORAL_ADDRESS: server.address,
      ANTHROPIC_API_KEY: canary,
      ANTHROPIC_BASE_URL: api.url,
      PTC_ATTACK_CANARY: canary,
      LEDGER_URL: `${ledger.url}/?key=${canary}`,
    }
    const worker = await WorkerProcess.start({ config, taskQueue, environment, hostId: uniqueName('shown') })
    onTestFinished(() => worker.kill('SIGTERM'))

    const ui = new TemporalUi(server.uiUrl ?? '', server.namespace)
    const session = uniqueName('shown')
    const sessionId = sessionWorkflowId(taskQueue, session)
    onTestFinished(async () => {
      const docker = new Dockerode()
      const filters = { label: [`ptc.workflow=${sessionId}`] }
      for (const { Id } of await docker.listContainers({ all: true, filters }))
        await docker.getContainer(Id).remove({ force: true })
    })
    const agent = await client.workflow.start('agent', {
      workflowId: uniqueName('shown'),
      taskQueue,
      args: [{ question: 'What is in your environment?' }],
    })
    const everything = async (): Promise<string> => {
      const parts = [
        await ui.readNamespace([taskQueue, `${taskQueue}.tools`, `${taskQueue}.sandbox`]),
        await ui.readWorkflow(agent.workflowId, queries),
        await ui.readWorkflow(sessionId, [...queries, 'inspect']),
      ]
      return parts.join('\n')
    }

    ledger.holdReplies('rent')
    const ptc = createPtcClient({ client, taskQueue })
    const executing = ptc.sessions.execute(session, `${source}\nraise ValueError(str(dict(os.environ)))`)
    await ledger.waitForRequests('rent', 2)
    const waiting = await everything()
    ledger.releaseReplies('rent')
    await Promise.all([agent.result(), executing])
    await ptc.sessions.close(session)
    const over = await everything()

    for (const shown of [waiting, over]) {
      // The UI does read the source, the summaries and the query results.
      for (const known of ['print(dict(os.environ))', 'charge rent', 'run cell 1', 'inspect'])
        expect(shown).toContain(known)
      expect(shown.includes(canary), 'the secret is in the UI').toBe(false)
    }
    expect(over).toContain('PYTHONHASHSEED')
  })
})
