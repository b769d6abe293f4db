/** A manifest without findings, with something of everything. */
import type { HttpManifest } from '#provider/manifest.ts'

export const exampleManifest: HttpManifest = {
  kind: 'http',
  title: 'Acme company registry',
  capabilities: {
    'company.lookup': {
      contract_key: 'company-registry',
      input: {
        type: 'object',
        properties: {
          number: { type: 'string', minLength: 1, maxLength: 20 },
          country: { type: 'string', enum: ['DE', 'FR'] },
          limit: { type: 'integer', minimum: 1, maximum: 100 },
        },
        required: ['number'],
        additionalProperties: false,
      },
      safe: true,
      request: {
        method: 'GET',
        url: 'https://api.acme.example/v2/companies/{input.number}',
        query: { country: '{input.country}', limit: '{input.limit}' },
        headers: { accept: 'application/json' },
        body: null,
      },
      response: { ok: [200], not_found: [404], media_types: ['application/json'], max_bytes: 2_097_152 },
      pages: { next: '/links/next', max: 10 },
      retry: {
        on: [429, 502, 503, 504, 'timeout', 'reset'],
        attempts: 3,
        base_ms: 500,
        max_ms: 20_000,
        honour_retry_after_s: 60,
      },
      timeout_ms: 15_000,
      cost: { amount: '0.40', currency: 'EUR', per: 'answered' },
    },
    'company.order': {
      contract_key: 'company-order',
      input: {
        type: 'object',
        properties: { number: { type: 'string' }, reference: { type: 'string' } },
        required: ['number'],
        additionalProperties: false,
      },
      idempotency_header: 'Idempotency-Key',
      request: {
        method: 'POST',
        url: 'https://api.acme.example/v2/orders',
        body: { json: { number: '{input.number}', reference: 'P-{input.reference}' } },
      },
    },
  },
  auth: {
    kind: 'oauth2_client_credentials',
    token_url: 'https://auth.acme.example/token',
    scope: 'read',
    client_auth: 'basic',
    audience: null,
  },
  credential: {
    members: [
      { name: 'client_id', secret: false, max: 100 },
      { name: 'client_secret', secret: true, max: 500 },
    ],
  },
  hosts: ['api.acme.example', 'auth.acme.example'],
  limits: { per_second: 5, burst: 10, concurrent: 4 },
  budget: { calls_per_day: 2000, spend_per_month: { amount: '500.00', currency: 'EUR' }, on_reached: 'refuse' },
  breaker: { failures: 5, window_s: 30, open_s: 30 },
  test: { capability: 'company.lookup', input: { number: '00000006' } },
  fixtures: [
    { capability: 'company.lookup', when: { number: '00000006' }, status: 200, body: { number: '00000006' } },
    { when: { number: 'TIMEOUT' }, fault: 'timeout' },
  ],
}
