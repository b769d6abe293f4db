/** The service inside the stand's own process, as far as examples of tenants need it. */
import { buildFacts, readProject } from '../../../src/app/project.ts'
import { createRuntime } from '../../../src/app/runtime.ts'
import { roles as allRoles } from '../../../src/kernel/auth/roles.ts'
import { silentLog } from '../../../src/kernel/log.ts'
import { createKeyring } from '../../../src/kernel/seal.ts'
import { uuidv7 } from '../../../src/kernel/uuid.ts'
import { callerOf } from '../../support/caller.ts'
import type { World } from '../../support/world.ts'
import { type Ground, STAND_MASTER_KEY } from '../ground.ts'

export async function openRoom(ground: Ground) {
  const runtime = await createRuntime({
    connections: { app: ground.connection('app'), worker: ground.connection('worker') },
    keyring: createKeyring(STAND_MASTER_KEY),
    build: buildFacts(readProject()),
    log: silentLog(),
    issuers: [],
    public_url: null,
    cors_origins: [],
    trusted_proxies: 0,
    pool_size: 6,
    prepared_statements: true,
    statement_timeout_ms: 15_000,
    upload_max_bytes: 16 * 1024 * 1024,
    strict: true,
  })
  const server = await runtime.createServer()
  const token: World['token'] = async (who = {}) => {
    const { tenant_id = '', roles = allRoles, principal = `user:${uuidv7()}` as const } = who
    return (await runtime.kernel.issuer.mint({ tenant_id, principal, roles, lifetime_s: 12 * 3600 })).token
  }
  const makeTenant = async () => (await ground.makeTenants(1))[0] as string
  return {
    // Examples use no other part of a world.
    world: { runtime, kernel: runtime.kernel, server, call: callerOf(server), token, makeTenant } as unknown as World,
    close: async () => {
      await server.close()
      await runtime.close()
    },
  }
}
