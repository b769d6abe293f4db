/**
 * PostGraphile with its recommended preset on the same tables, as the same database role, with the same token. Copied into
 * a folder of its own, where it is installed, and run there by Node 22. Verified tokens are kept, as the product keeps them.
 */
import { createServer } from 'node:http'
import { grafserv } from 'grafserv/node'
import { createLocalJWKSet, jwtVerify } from 'jose'
import pg from 'pg'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'

const { database, public_keys } = JSON.parse(process.argv[2])
const keys = createLocalJWKSet({ keys: public_keys })
const known = new Map()

async function settingsFor(authorization) {
  const token = authorization?.replace('Bearer ', '')
  const cached = known.get(token)
  if (cached) return cached
  const { payload } = await jwtVerify(token, keys, { issuer: 'probity', audience: 'probity' })
  const settings = { 'app.tenant_id': payload.tenant_id, 'app.actor': payload.sub }
  known.set(token, settings)
  return settings
}

const preset = {
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ pool: new pg.Pool({ ...database, max: 10 }), schemas: ['app'] })],
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false },
  grafast: {
    explain: false,
    context: async (request) => ({ pgSettings: await settingsFor(request.node.req.headers.authorization) }),
  },
}

const server = createServer()
await postgraphile(preset).createServ(grafserv).addTo(server)
server.listen(0, '127.0.0.1', () => {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send({ cpu_us: user + system })
  })
  process.once('disconnect', () => process.exit())
  process.send({ ready: { port: server.address().port } })
})
