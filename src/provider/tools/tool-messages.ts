/**
 * Finds the one JSON-RPC message in a response that answers a request. Everything else that a server may put into it, such as
 * notifications, requests of its own or instructions to reconnect, is left out, so that nothing ever acts on it.
 */
import { parseStrictJson } from '#kernel/strict-json.ts'
import { ToolServerFailed } from './tool-faults.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const MAX_MESSAGES = 1000

/** The message whose id is that of the request. */
export function findResponse(media_type: string, body: Buffer, id: unknown): JsonObject {
  const answers = listMessages(media_type, body).filter(
    (message) => message['id'] === id && ('result' in message || 'error' in message),
  )
  const [answer, second] = answers
  if (!answer) throw new ToolServerFailed('response_missing')
  // Which of two answers counts would be a guess.
  if (second || answer['jsonrpc'] !== '2.0') throw new ToolServerFailed('message_invalid')
  return answer
}

function listMessages(media_type: string, body: Buffer): JsonObject[] {
  if (media_type === 'application/json') return [parseMessage(body)].flat().filter(isJsonObject)
  if (media_type !== 'text/event-stream') throw new ToolServerFailed('media_type_unexpected')
  return listEventData(body).flatMap((data) => [parseMessage(Buffer.from(data))].flat().filter(isJsonObject))
}

function parseMessage(bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes)
  } catch {
    throw new ToolServerFailed('message_invalid')
  }
}

/** The data of each event of a complete stream, as the HTML standard reads it. Events of other types carry no messages. */
function listEventData(body: Buffer): string[] {
  const found: string[] = []
  let data: string[] = []
  let type = 'message'
  const endEvent = () => {
    if (data.length > 0 && type === 'message') found.push(data.join('\n'))
    if (found.length > MAX_MESSAGES) throw new ToolServerFailed('message_invalid')
    data = []
    type = 'message'
  }
  for (const line of body
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)) {
    if (line === '') endEvent()
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
    else if (line.startsWith('event:')) type = line.slice(6).trim() || 'message'
  }
  // A server that ends the stream without a blank line has sent its last event all the same.
  endEvent()
  return found.filter((text) => text !== '')
}
