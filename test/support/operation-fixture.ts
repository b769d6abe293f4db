/**
 * What a module's fixtures.ts is made of: for each operation, how a tenant calls it so that it succeeds. Identifiers must
 * differ between tenants, because the isolation suites send one tenant's where another's belong.
 */
import type { Role } from '#kernel/auth/roles.ts'
import type { ExampleTenant, Person } from './example-tenant.ts'

export interface Example {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Sent as application/octet-stream instead of a JSON body. */
  readonly bytes?: string
  /** The path names something that all tenants share. */
  readonly shared?: true
  /** The only caller who may do it, where the role alone is not enough. */
  readonly principal?: Person
}

/** `role` is what the caller will hold, for operations that decide by more than the route's list of roles. */
export type Fixture = (t: ExampleTenant, role: Role) => Example | Promise<Example>
/** One entry per operationId. */
export type Fixtures = Readonly<Record<string, Fixture>>

/**
 * What a fixtures.ts exports beside `fixtures` where events of its operations hold a text that a caller wrote: their operationIds, as
 * `textsInEvents`. Only changes of configuration, which is about no subject, record such texts; docs/security.md tells people not to name
 * customers there.
 */
export type TextsInEvents = readonly string[]

/** The operations of a kind of versioned definition that record the reason they are given; `noun` is the kind's. */
export const listReasonedOperations = (noun: string): TextsInEvents => [
  ...['create', 'pin', 'unpin', 'rollBack'].map((verb) => `${verb}${noun}`),
  ...['activate', 'submit'].map((verb) => `${verb}${noun}Version`),
]

/** For operations without parameters, query or body. */
export const noInput: Fixture = () => ({})

/** A function that makes each named thing once per tenant and gives the same one afterwards. */
export function createOncePerTenant() {
  const created = new WeakMap<ExampleTenant, Map<string, Promise<unknown>>>()
  return <T>(t: ExampleTenant, name: string, make: () => Promise<T>): Promise<T> => {
    const ofTenant = created.get(t) ?? new Map<string, Promise<unknown>>()
    created.set(t, ofTenant)
    const known = ofTenant.get(name) ?? make()
    ofTenant.set(name, known)
    return known as Promise<T>
  }
}
