/**
 * PostGraphile with its recommended preset on the same tables, as the same database role, with the same token. Copied into
 * a folder of its own, where it is installed, and run there by Node 22. Tokens are verified as its documentation shows, in
 * the context of each request; with `keep_tokens` a verified one is kept, as the product keeps them.
 */
import { createPublicKey } from 'node:crypto'
import { createServer } from 'node:http'
import { grafserv } from 'grafserv/node'
import jwt from 'jsonwebtoken'
import pg from 'pg'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'

const { database, public_keys, keep_tokens } = JSON.parse(process.argv[2])
const key = createPublicKey({ key: public_keys[0], format: 'jwk' })
const expected = { algorithms: ['ES256'], issuer: 'probity', audience: 'probity' }
const known = new Map()

function settingsFor(authorization) {
  const token = authorization?.replace('Bearer ', '')
  if (keep_tokens && known.has(token)) return known.get(token)
  const { tenant_id, sub } = jwt.verify(token, key, expected)
  const settings = { role: 'app', 'app.tenant_id': tenant_id, 'app.actor': sub }
  if (keep_tokens) known.set(token, settings)
  return settings
}

const preset = {
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ pool: new pg.Pool({ ...database, max: 10 }), schemas: ['app'] })],
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false },
  grafast: {
    explain: false,
    context: (request) => ({ pgSettings: settingsFor(request.node.req.headers.authorization) }),
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
