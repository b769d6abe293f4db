/** Token issuers: the built-in one, and external ones from a JSON file that says for which tenants and with which roles. */
import { AUDIENCE, BUILT_IN_ISSUER } from '#kernel/auth/built-in-issuer.ts'
import { isRole, type Role, roles } from '#kernel/auth/roles.ts'
import type { TrustedIssuer } from '#kernel/auth/token-verifier.ts'
import { describeSchemaErrors } from '#kernel/http/validation.ts'
import type { SignInConfig } from '#kernel/kernel.ts'
import { closed, listOf, oneOf, type Static, Type, text } from '#kernel/schema.ts'

const IssuerFile = closed({
  issuers: listOf(
    closed({
      issuer: text(500, { description: 'Compared exactly with the iss claim.' }),
      audience: text(500),
      jwks_url: Type.Optional(text(1000)),
      oidc: Type.Optional(Type.Boolean({ description: 'Find the keys by OpenID Connect discovery at the issuer.' })),
      algorithms: Type.Optional(listOf(oneOf(['RS256', 'ES256', 'EdDSA']), 3, { minItems: 1 })),
      tenants: listOf(text(36, { pattern: '^[0-9a-f-]{36}$' }), 1000, {
        minItems: 1,
        description: 'Tenant ids it may speak for.',
      }),
      tenant_claim: Type.Optional(text(100)),
      roles_claim: Type.Optional(text(100)),
      sign_in: Type.Optional(
        closed(
          {
            client_id: text(255),
            authorization_endpoint: text(1000, { pattern: '^https?://' }),
            token_endpoint: text(1000, { pattern: '^https?://' }),
            scopes: Type.Optional(listOf(text(100), 20)),
          },
          { description: 'A public client with PKCE, with which the console signs people in.' },
        ),
      ),
      role_map: Type.Record(Type.String({ maxLength: 200 }), listOf(oneOf(roles), roles.length)),
    }),
    100,
  ),
})

export type ConfiguredIssuer = Omit<TrustedIssuer, 'built_in'> & { readonly sign_in?: SignInConfig }

/** Throws a message that names what is wrong. */
export function parseIssuers(document: unknown): ConfiguredIssuer[] {
  const fault = describeSchemaErrors(IssuerFile, document)
  if (fault) throw new Error(`is not a valid issuers file: ${fault}`)
  return (document as Static<typeof IssuerFile>).issuers.map((entry) => {
    if ((entry.jwks_url === undefined) === (entry.oidc !== true)) {
      throw new Error(`issuer ${entry.issuer} needs either jwks_url or "oidc": true`)
    }
    const map: Record<string, readonly Role[]> = {}
    for (const [theirs, ours] of Object.entries(entry.role_map)) map[theirs] = ours.filter(isRole)
    return {
      issuer: entry.issuer,
      audience: entry.audience,
      algorithms: entry.algorithms ?? ['RS256', 'ES256', 'EdDSA'],
      tenants: entry.tenants,
      tenant_claim: entry.tenant_claim ?? 'tenant_id',
      roles_claim: entry.roles_claim ?? 'roles',
      role_map: map,
      ...(entry.sign_in && { sign_in: { scopes: ['openid'], ...entry.sign_in } }),
      keys:
        entry.jwks_url === undefined
          ? { kind: 'oidc', issuer_url: entry.issuer }
          : { kind: 'jwks', url: entry.jwks_url },
    }
  })
}

/** The built-in issuer, which may issue tokens for every tenant, and the configured ones. */
export function buildTrustedIssuers(
  configured: readonly ConfiguredIssuer[],
  jwks: () => Promise<never[] | object[]>,
): TrustedIssuer[] {
  return [
    {
      issuer: BUILT_IN_ISSUER,
      audience: AUDIENCE,
      algorithms: ['ES256', 'EdDSA'],
      tenants: '*',
      tenant_claim: 'tenant_id',
      roles_claim: 'roles',
      role_map: null,
      keys: { kind: 'static', jwks },
      built_in: true,
    },
    ...configured.map((issuer) => ({ ...issuer, built_in: false })),
  ]
}
