/**
 * Page cursors: a position in a listing, signed so that it can only continue the listing it came from. Tenant, route, sort order
 * and filters are signed but not contained; every fault gives the same 404.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import { fail } from './problem.ts'

export const CURSOR_TTL_MS = 24 * 60 * 60 * 1000

const MAC_BYTES = 32

export type CursorPosition = readonly (string | number)[]

export interface CursorBinding {
  readonly tenant_id: string
  readonly route: string
  /** Any JSON: everything that decides which rows the listing has and in which order. */
  readonly binding: unknown
}

export interface CursorCodec {
  encode(cursor: CursorBinding & { readonly position: CursorPosition }): string
  decode(text: string, bound: CursorBinding): CursorPosition
}

export function createCursorCodec(key: Buffer, now: () => number = Date.now): CursorCodec {
  const sign = ({ tenant_id, route, binding }: CursorBinding, payload: Buffer): Buffer => {
    const filters = createHash('sha256').update(canonicalJson(binding)).digest('hex')
    // JSON separates the parts, so that no two different bindings sign the same bytes.
    return createHmac('sha256', key)
      .update(canonicalJson(['cursor/1', tenant_id, route, filters]))
      .update(payload)
      .digest()
  }

  return {
    encode({ position, ...bound }) {
      const payload = Buffer.from(canonicalJson([now() + CURSOR_TTL_MS, ...position]))
      return Buffer.concat([sign(bound, payload), payload]).toString('base64url')
    },
    decode(text, bound) {
      const bytes = Buffer.from(text, 'base64url')
      // Decoding ignores stray characters and spare bits; only the canonical spelling of a cursor is accepted.
      if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== text) fail('cursor_not_found')
      const payload = bytes.subarray(MAC_BYTES)
      if (!timingSafeEqual(sign(bound, payload), bytes.subarray(0, MAC_BYTES))) fail('cursor_not_found')
      const [expires_at_ms, ...position] = JSON.parse(payload.toString()) as [number, ...CursorPosition]
      return now() < expires_at_ms ? position : fail('cursor_not_found')
    },
  }
}
