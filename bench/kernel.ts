/**
 * The whole product under measurement. Bundled four times: as it is, with the statement that sets the tenant left out, for
 * the database without row-level security, with that left out which records a change, and with copies stored as plain text. Nothing
 * else differs.
 */
import { roles } from '#kernel/auth/roles.ts'
import { type BenchRuntimeOptions, createBenchRuntime } from './bench-runtime.ts'
import { readStartOptions, reportReady } from './child.ts'

export interface ProductServerOptions extends BenchRuntimeOptions {
  readonly callers: readonly { readonly tenant_id: string; readonly user_id: string }[]
}
export interface ProductServerInfo {
  readonly port: number
  readonly tokens: readonly string[]
  readonly public_keys: readonly object[]
}

const options = readStartOptions<ProductServerOptions>()
const runtime = await createBenchRuntime(options)
const server = await runtime.createServer()
const port = await server.listen(0, '127.0.0.1')
const { issuer } = runtime.kernel
const tokens = await Promise.all(
  options.callers.map(async ({ tenant_id, user_id }) => {
    const minted = await issuer.mint({ tenant_id, principal: `user:${user_id}`, roles, lifetime_s: 3600 })
    return minted.token
  }),
)
reportReady({ port, tokens, public_keys: await issuer.publicKeys() } satisfies ProductServerInfo)
