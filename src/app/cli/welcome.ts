/** What `start` prints when it serves: where the console is, how to sign in, where everything else is, and what keeps it from being ready. */
import { listFailedChecks, type Readiness } from '#kernel/readiness.ts'

export interface WelcomeFacts {
  readonly version: string
  readonly took_s: number
  readonly url: string
  readonly metrics_url: string
  readonly data_dir: string | null
  readonly log_file: string
  readonly demo: boolean
  /** From where the people of the demo tenants are offered on the sign-in page; null where they are not. */
  readonly demo_sign_in: 'this machine' | 'everywhere' | null
  readonly readiness: Readiness
}

export function formatWelcome(facts: WelcomeFacts): string {
  const { url } = facts
  return [
    '',
    `  Console    ${url}`,
    '',
    ...listHelpLines(facts).map((line) => `  ${line}`),
    '',
    `  API docs   ${url}/api-docs`,
    `  Health     ${url}/api/health/ready`,
    `  Metrics    ${facts.metrics_url}`,
    ...(facts.data_dir ? [`  Data       ${facts.data_dir}`] : []),
    `  Log        ${facts.log_file}`,
    '',
    ...listStateLines(facts),
  ].join('\n')
}

function listStateLines({ version, took_s, readiness }: WelcomeFacts): string[] {
  if (readiness.status === 'ready')
    return [`Probity ${version} is ready after ${took_s.toFixed(1)} s. Ctrl-C stops everything.`]
  return [
    `WARNING: Probity ${version} serves after ${took_s.toFixed(1)} s, but is not ready: load balancers send it no requests.`,
    ...listFailedChecks(readiness).map((line) => `  ${line}`),
    'Ctrl-C stops everything.',
  ]
}

function listHelpLines({ demo, demo_sign_in }: WelcomeFacts): string[] {
  if (!demo) {
    return [
      'Make a tenant with its first API key:  npx probity tenant create --slug SLUG --name NAME',
      'A token for a person of a tenant:      npx probity token --tenant SLUG --user EMAIL',
    ]
  }
  return [...listSignInLines(demo_sign_in), 'A token for the API:  npx probity token --tenant demo --role analyst']
}

function listSignInLines(demo_sign_in: WelcomeFacts['demo_sign_in']): string[] {
  switch (demo_sign_in) {
    case 'this machine':
      return ['Open it and choose a person of a demo tenant: no password is needed on this machine.']
    case 'everywhere':
      return [
        'Open it and choose a person of a demo tenant: no password is needed.',
        'WARNING: PROBITY_DEMO_REMOTE is on. Anybody who reaches this port can sign in to the demo tenants, as administrator too.',
      ]
    case null:
      return [
        'Open it and paste a token. PROBITY_DEMO_REMOTE=on offers the people of the demo tenants on the sign-in page.',
      ]
  }
}
