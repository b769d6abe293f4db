/**
 * What a client calls itself. Clients of 2026 say it in each message. Those of 2025 say it once, when they begin: they get it back as
 * the id of their session and send that with each message, so that nothing is kept here. Nothing depends on the name.
 */
import { isPlainText } from '#kernel/auth/token-verifier.ts'
import type { ProtocolReply } from '#kernel/declare-route.ts'
import { uuidv7 } from '#kernel/uuid.ts'

const MAX_LENGTH = 120
const SESSION_HEADER = 'mcp-session-id'
/** At most four bytes for each character. */
const SESSION_ID = /^[0-9a-f-]{36}\.([A-Za-z0-9_-]{1,640})$/

/** Format characters, such as those that reverse the direction of text, would make a name look like another. */
export const toClientName = (text: unknown): string | null =>
  isPlainText(text) ? text.slice(0, MAX_LENGTH).replaceAll(/\p{Cf}/gu, '\ufffd') : null

export function nameClient(info: unknown): string | null {
  const { name, version } = (info ?? {}) as { name?: unknown; version?: unknown }
  return toClientName(isPlainText(name) && isPlainText(version) ? `${name} ${version}` : name)
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** Of a client of 2025: from the id of its session. */
export function readSessionName(headers: Headers): string | null {
  const id = headers[SESSION_HEADER]
  const [, encoded] = (typeof id === 'string' && SESSION_ID.exec(id)) || []
  return encoded === undefined ? null : toClientName(Buffer.from(encoded, 'base64url').toString('utf8'))
}

/** The answer to the first message of a client of 2025, with an id that holds its name. */
export function addSessionId(message: unknown, reply: ProtocolReply): ProtocolReply {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { clientInfo?: unknown } | null }
  const name = method === 'initialize' && reply.status === 200 ? nameClient(params?.clientInfo) : null
  if (name === null) return reply
  const id = `${uuidv7()}.${Buffer.from(name).toString('base64url')}`
  return { ...reply, headers: { ...reply.headers, [SESSION_HEADER]: id } }
}
