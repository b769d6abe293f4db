/**
 * The state of a question to a person, which travels through the client and back. It is authenticated and bound to tenant,
 * principal, tool and arguments, so that an answer confirms exactly the call it was asked for, within ten minutes.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'

const VALID_MS = 10 * 60 * 1000

export interface StateBinding {
  readonly tenant_id: string
  readonly principal: string
  readonly tool: string
  readonly arguments_hash: string
}

const sign = (
  key: Buffer,
  { tenant_id, principal, tool, arguments_hash }: StateBinding,
  expires_at_ms: number,
): Buffer =>
  // The first member keeps it apart from everything else that is signed with this key.
  createHmac('sha256', key)
    .update(canonicalJson(['request-state/1', tenant_id, principal, tool, arguments_hash, expires_at_ms]))
    .digest()

export function encodeRequestState(key: Buffer, binding: StateBinding, now_ms: number = Date.now()): string {
  const expires_at_ms = now_ms + VALID_MS
  return `${expires_at_ms.toString(36)}.${sign(key, binding, expires_at_ms).toString('base64url')}`
}

export function isValidRequestState(
  keys: readonly Buffer[],
  state: string,
  binding: StateBinding,
  now_ms: number = Date.now(),
): boolean {
  const [, time = '', code = ''] = /^([0-9a-z]{1,12})\.([A-Za-z0-9_-]{43})$/.exec(state) ?? []
  const expires_at_ms = Number.parseInt(time, 36)
  if (!Number.isSafeInteger(expires_at_ms) || expires_at_ms.toString(36) !== time || now_ms >= expires_at_ms)
    return false
  const given = Buffer.from(code, 'base64url')
  if (given.toString('base64url') !== code) return false
  return keys.some((key) => timingSafeEqual(sign(key, binding, expires_at_ms), given))
}
