// A model that calls `execute_code` in every turn except the last: `node unparsed-model.mjs TURNS CODE`. It speaks the
// stream of the Messages API. It does not parse or keep requests, so its time per turn does not grow with their length.
// Sends its address to its parent process, and ends with it.
import { createServer } from 'node:http'

const [turns, code] = process.argv.slice(2)
const usage = { input_tokens: 100, output_tokens: 20 }
let turn = 0

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    if (request.url?.split('?')[0] !== '/v1/messages') {
      response.writeHead(404).end()
      return
    }
    turn += 1
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(
      events(turn < Number(turns))
        .map(serialized)
        .join(''),
    )
  })
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`))

/** Events of a reply: a call of `execute_code`, or the text that ends the run. */
function events(callsCode) {
  const block = callsCode
    ? { type: 'tool_use', id: `toolu_${turn}`, name: 'execute_code', input: {} }
    : { type: 'text', text: '' }
  const delta = callsCode
    ? { type: 'input_json_delta', partial_json: JSON.stringify({ code }) }
    : { type: 'text_delta', text: 'done' }
  const message = { id: `msg_${turn}`, type: 'message', role: 'assistant', model: 'bench', content: [], usage }
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: callsCode ? 'tool_use' : 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

function serialized(event) {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
