/**
 * Parses pasted credentials and reads the claims of a token. Signatures are verified by the server only; nothing here
 * stores or sends anything.
 */

export interface TokenClaims {
  readonly tenant_id: string | null
  readonly subject: string | null
  readonly roles: readonly string[]
  readonly expires_at: Date | null
}

export type ParsedToken = { readonly claims: TokenClaims } | { readonly fault: string }

export function parseToken(token: string): ParsedToken {
  const parts = token.split('.')
  if (parts.length !== 3) {
    return { fault: `A token has three parts separated by dots; this one has ${parts.length}.` }
  }
  const payload = parsePayload(parts[1] ?? '')
  if (payload === null) return { fault: 'The token cannot be read. Check that it was copied completely.' }
  const { tenant_id, sub, roles, exp } = payload
  return {
    claims: {
      tenant_id: typeof tenant_id === 'string' ? tenant_id : null,
      subject: typeof sub === 'string' ? sub : null,
      roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
      expires_at: typeof exp === 'number' ? new Date(exp * 1000) : null,
    },
  }
}

function parsePayload(base64url: string): Record<string, unknown> | null {
  try {
    const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}

export type PastedCredential = { readonly token: string } | { readonly api_key: string } | { readonly fault: string }

/** Pasted text may have surrounding spaces and the word Bearer. */
export function parsePasted(pasted: string): PastedCredential {
  const text = pasted.trim().replace(/^bearer\s+/i, '')
  if (text === '') return { fault: 'Paste a token or an API key first.' }
  if (text.startsWith('pk_')) return { api_key: text }
  const reading = parseToken(text)
  return 'fault' in reading ? reading : { token: text }
}
