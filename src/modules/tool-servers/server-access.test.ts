/** How requests to a tool server are bounded. */
import { expect, test } from 'vitest'
import type { EgressRequest } from '#kernel/egress/egress.ts'
import { createExchange, NO_SECRETS } from './server-access.ts'

test('a tool may begin to answer as late as its capability says, and the server itself may not', async () => {
  const requests: EgressRequest[] = []
  const request = async (sent: EgressRequest) => {
    requests.push(sent)
    return { status: 200, headers: {}, body: Buffer.from('{}'), duration_ms: 1 }
  }
  const server = { server_key: 'a', url: 'https://tools.example/mcp', auth: { kind: 'none' } } as const
  const exchange = createExchange({ egress: { request, close: async () => {} } }, server, NO_SECRETS, {
    tenant_id: 't',
  })
  const sent = { headers: {}, body: Buffer.from('{}'), timeout_ms: 90_000, max_bytes: 1000 }
  await exchange({ ...sent, is_call: true })
  await exchange({ ...sent, is_call: false })
  expect(requests.map(({ headers_timeout_ms }) => headers_timeout_ms)).toEqual([90_000, undefined])
})
