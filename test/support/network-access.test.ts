/** The check that keeps connections in egress sees every form in which they could be opened elsewhere. */
import { expect, test } from 'vitest'
import { findNetworkAccess } from './network-access.ts'

test.each([
  ["import net from 'node:net'", 'import node:net'],
  ["import * as net from 'node:net'", 'import node:net'],
  ["import 'node:net'", 'import node:net'],
  ["import {} from 'node:net'", 'import node:net'],
  ["import net, { isIP } from 'node:net'", 'import node:net'],
  ["import { connect } from 'node:net'\nconnect(1)", 'import connect of node:net'],
  ["import { connect as open, isIP } from 'net'", 'import connect, isIP of net'],
  ["import {\n  Socket,\n  type AddressInfo,\n} from 'node:net'\nnew Socket()", 'import Socket of node:net'],
  ["import { connect } from 'tls'", 'import connect of tls'],
  ["import { request } from 'node:http'", 'import request of node:http'],
  ['import { get } from "http"', 'import get of http'],
  ["import https from 'https'", 'import https'],
  ["import { request } from 'node:https'", 'import request of node:https'],
  ["import { connect } from 'node:http2'", 'import connect of node:http2'],
  ["import dgram from 'dgram'", 'import dgram'],
  ["import { Client } from 'undici'", 'import Client of undici'],
  ["import x from 'undici/lib/api/api-request.js'", 'import undici/lib/api/api-request.js'],
  ["export { connect } from 'node:net'", 'export connect of node:net'],
  ["export * from 'node:net'", 'export node:net'],
  ["const { Pool } = await import('undici')", 'import() undici'],
  ['const net = await import(`node:net`)', 'import() node:net'],
  ["const net = require('net')", 'require net'],
  ["import net = require('node:net')", 'require node:net'],
  ["const net = createRequire(import.meta.url)('net')", 'require net'],
  ["const net = process.getBuiltinModule('node:net')", 'getBuiltinModule node:net'],
  ["await fetch('https://example.com')", 'fetch'],
  ['const client = { fetch }', 'fetch'],
  ['const send = fetch', 'fetch'],
  ['const send = globalThis.fetch', 'fetch'],
  ["const send = globalThis['fetch']", 'fetch'],
  ['const send = global.fetch', 'fetch'],
  ['const { fetch: send } = globalThis', 'fetch'],
  ['const { fetch } = globalThis', 'fetch'],
  ['options({ fetch: fetch })', 'fetch'],
  ['options({ fetch: globalThis.fetch.bind(null) })', 'fetch'],
  ["new WebSocket('wss://example.com')", 'WebSocket'],
  ["new globalThis.EventSource('https://example.com')", 'EventSource'],
])('%s', (text, access) => {
  expect(findNetworkAccess(text)).toEqual([access])
})

test.each([
  "import type { Socket } from 'node:net'",
  "import type http from 'node:http'",
  "import { type Pool, type Dispatcher } from 'undici'",
  "export type { Dispatcher } from 'undici'",
  "import { connection } from './net.ts'",
  "import { fetchPage } from './http'",
  'const answer = handler.fetch',
  "type Answer = Handler['fetch']",
  'interface Options { fetch: Send }',
  'const options = { fetch: (url) => session.exchange(url) }',
  "// fetch(url) and import 'node:net' in a comment\nconst names = ['fetch', 'node:net']",
])('opens nothing: %s', (text) => {
  expect(findNetworkAccess(text)).toEqual([])
})
