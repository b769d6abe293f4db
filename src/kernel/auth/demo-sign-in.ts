/** Signing in without a credential, as a person of a demo tenant: who can, and on which servers. */
import { isIPv4 } from 'node:net'
import type { Role } from './roles.ts'

export interface DemoPerson {
  readonly user_id: string
  readonly name: string
  readonly roles: readonly Role[]
}

export interface DemoTenant {
  readonly tenant_id: string
  readonly slug: string
  readonly name: string
  readonly users: readonly DemoPerson[]
}

export interface DemoSignIn {
  readonly tenants: readonly DemoTenant[]
  /** Whether requests from other machines are accepted. */
  readonly allows_remote: boolean
}

/** A host to listen on, or the host name of a URL, that only this machine reaches. */
export const isLoopbackHost = (host: string): boolean =>
  /^(localhost|::1|\[::1\])$/i.test(host) || (isIPv4(host) && host.startsWith('127.'))

export interface DemoSettings {
  readonly demo: boolean
  readonly demo_remote: boolean
  /** The address the server listens on; null for a process that serves no requests. */
  readonly host: string | null
  readonly public_url: string | null
  readonly trusted_proxies: number
}

/** Null where nobody may sign in this way. A server behind a proxy is not local, although it listens on this machine only. */
export function findDemoSignIn(settings: DemoSettings, tenants: readonly DemoTenant[]): DemoSignIn | null {
  const { demo, demo_remote, host, public_url, trusted_proxies } = settings
  if (!demo || host === null) return null
  const isLocal =
    isLoopbackHost(host) &&
    trusted_proxies === 0 &&
    (public_url === null || isLoopbackHost(new URL(public_url).hostname))
  if (!isLocal && !demo_remote) return null
  return { tenants: tenants.map(withPeopleOnly), allows_remote: demo_remote }
}

/** A service account is not a person who uses the console. */
const withPeopleOnly = (tenant: DemoTenant): DemoTenant => ({
  ...tenant,
  users: tenant.users.filter(({ roles }) => roles.some((role) => role !== 'service')),
})
