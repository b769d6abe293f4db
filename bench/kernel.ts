/**
 * The whole product under measurement. Bundled three times: as it is, with the statement that sets the tenant left out, for
 * the database without row-level security, and with that left out which records a change. Nothing else differs.
 */
import { roles } from '../src/kernel/auth/roles.ts'
import { benchRuntime, type RuntimeOrder } from './bench-runtime.ts'
import { announce, readOrder } from './child.ts'

export interface KernelOrder extends RuntimeOrder {
  readonly callers: readonly { readonly tenant_id: string; readonly user_id: string }[]
}
export interface KernelFacts {
  readonly port: number
  readonly tokens: readonly string[]
  readonly public_keys: readonly object[]
}

const order = readOrder<KernelOrder>()
const runtime = await benchRuntime(order)
const server = await runtime.createServer()
const port = await server.listen(0, '127.0.0.1')
const { issuer } = runtime.kernel
const tokens = await Promise.all(
  order.callers.map(async ({ tenant_id, user_id }) => {
    const minted = await issuer.mint({ tenant_id, principal: `user:${user_id}`, roles, lifetime_s: 3600 })
    return minted.token
  }),
)
announce({ port, tokens, public_keys: await issuer.publicKeys() } satisfies KernelFacts)
