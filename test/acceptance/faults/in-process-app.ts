/** The service inside the run's own process, as far as example tenants need it. */
import { readBuildInfo, readProject } from '#app/project.ts'
import { createRuntime } from '#app/runtime.ts'
import { roles as allRoles } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { createSilentLog } from '#kernel/log.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { updateApprovalRules } from '#test/support/approval-rules.ts'
import { createCaller } from '#test/support/caller.ts'
import type { ExampleApp } from '#test/support/example-tenant.ts'
import type { TestApp } from '#test/support/test-app.ts'
import { ACCEPTANCE_MASTER_KEY, type DurableDatabase } from '../support/durable-database.ts'

export async function startInProcessApp(database: DurableDatabase) {
  const runtime = await createRuntime({
    connections: { app: database.connection('app'), worker: database.connection('worker') },
    keyring: createKeyring(ACCEPTANCE_MASTER_KEY),
    build: readBuildInfo(readProject()),
    log: createSilentLog(),
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
  const token: TestApp['token'] = async (who = {}) => {
    const { tenant_id = '', roles = allRoles, principal = `user:${uuidv7()}` as const } = who
    return (await runtime.kernel.issuer.mint({ tenant_id, principal, roles, lifetime_s: 12 * 3600 })).token
  }
  const makeTenant = async () => (await database.makeTenants(1))[0] as string
  const app: ExampleApp = {
    runtime,
    kernel: runtime.kernel,
    seedContext: database.seedContext,
    call: createCaller(server),
    token,
    makeTenant,
    setApprovalRules: (tenant_id, rules) =>
      runtime.database.write(fullScope(tenant_id, 'operator:acceptance'), (tx) =>
        updateApprovalRules(tx, tenant_id, rules),
      ),
  }
  return {
    app,
    close: async () => {
      await server.close()
      await runtime.close()
    },
  }
}
