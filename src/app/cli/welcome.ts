/** What `start` prints when it is ready: addresses, and tokens of the demo tenants. */
import type { BuiltInIssuer } from '#kernel/auth/built-in-issuer.ts'
import type { Role } from '#kernel/auth/roles.ts'
import { type DemoTenant, type DemoUser, demoTenants } from '../seed.ts'

export const DEMO_TOKEN_HOURS = 12

export interface DemoToken {
  readonly tenant: DemoTenant
  readonly user: DemoUser
  readonly token: string
}

/** Which roles are shown for which tenant; every other token is one command away. Pairs are for approvals. */
const printedRoles: readonly (readonly Role[])[] = [
  ['viewer', 'policy_editor', 'compliance_officer', 'tenant_admin'],
  ['viewer', 'tenant_admin'],
]

export async function mintDemoTokens(issuer: Pick<BuiltInIssuer, 'mint'>): Promise<DemoToken[]> {
  const chosen = demoTenants.flatMap((tenant, index) => {
    const roles = printedRoles[index] ?? []
    const users = roles.flatMap((role) => tenant.users.filter((user) => user.roles.includes(role)))
    // One tenant shows the pairs; for the other the first holder of each role is enough.
    const shown = index === 0 ? users : roles.flatMap((role) => users.find((user) => user.roles.includes(role)) ?? [])
    return shown.map((user) => ({ tenant, user }))
  })
  return Promise.all(
    chosen.map(async ({ tenant, user }) => {
      const minted = await issuer.mint({
        principal: `user:${user.user_id}`,
        tenant_id: tenant.tenant_id,
        roles: user.roles,
        lifetime_s: DEMO_TOKEN_HOURS * 3600,
        name: user.name,
      })
      return { tenant, user, token: minted.token }
    }),
  )
}

export function formatWelcome(facts: {
  readonly version: string
  readonly took_s: number
  readonly url: string
  readonly metrics_url: string
  readonly data_dir: string | null
  readonly log_file: string
  readonly tokens: readonly DemoToken[]
}): string {
  const { url, tokens } = facts
  return [
    '',
    `Probity ${facts.version} is ready after ${facts.took_s.toFixed(1)} s`,
    '',
    `  App        ${url}`,
    `  API docs   ${url}/api-docs`,
    `  Health     ${url}/api/health/ready`,
    `  Metrics    ${facts.metrics_url}`,
    ...(facts.data_dir ? [`  Data       ${facts.data_dir}`] : []),
    `  Log        ${facts.log_file}`,
    '',
    ...(tokens.length > 0 ? formatTokens(tokens, url) : noTokenLines),
    '',
    'Ctrl-C stops everything.',
  ].join('\n')
}

const noTokenLines = [
  'PROBITY_DEMO is off, so there are no tokens to print. Make a tenant with:',
  '  npx probity tenant create --slug SLUG --name NAME',
]

function formatTokens(tokens: readonly DemoToken[], url: string): string[] {
  const blocks = demoTenants.flatMap((tenant) => {
    const own = tokens.filter((entry) => entry.tenant === tenant)
    return [
      `Tenant ${tenant.slug} (${tenant.name})`,
      ...own.flatMap(({ user, token }) => [`  ${user.roles.join(', ')} · ${user.name}`, `  ${token}`]),
      '',
    ]
  })
  return [
    `Tokens, valid for ${DEMO_TOKEN_HOURS} hours; any other: npx probity token --tenant demo --role viewer`,
    '',
    ...blocks,
    ...formatFourEyes(tokens),
    '',
    'Try it:',
    `  ${curlLine(tokens, url)}`,
  ]
}

/** Two people with the same role: one can approve what the other proposes. */
function formatFourEyes(tokens: readonly DemoToken[]): string[] {
  const pairs = tokens.flatMap(({ tenant, user }, index) =>
    tokens
      .slice(index + 1)
      .filter((other) => other.tenant === tenant && other.user.roles.join() === user.roles.join())
      .map((other) => `${user.name} and ${other.user.name} (${user.roles.join(', ')})`),
  )
  return [
    'Four eyes: demo tenants ask for no approval until an administrator sets a policy (PUT /api/tenant/approval-policy).',
    'Then what one of a pair proposes, the other approves:',
    ...pairs.map((pair) => `  ${pair}`),
  ]
}

function curlLine(tokens: readonly DemoToken[], url: string): string {
  const reader = tokens.find(({ user }) => user.roles.includes('viewer')) ?? tokens[0]
  return `curl -s ${url}/api/auth/me -H 'Authorization: Bearer ${reader?.token}'`
}
